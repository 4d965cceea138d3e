// Looks at the page as it is laid out, and writes down what is wrong with it.
(() => {
  const wrong = [];
  const clips = element => {
    const found = [];
    for (let it = element; it; it = it.parentElement) {
      if (it !== document.body && getComputedStyle(it).overflowX === 'auto') found.push(it.getBoundingClientRect());
    }
    return found;
  };
  const svgs = document.querySelectorAll('svg');
  for (const svg of svgs) {
    const frame = svg.getBoundingClientRect();
    if (frame.width < 1 || !svg.checkVisibility()) continue;
    for (const text of svg.querySelectorAll('text')) {
      if (!text.textContent.trim()) continue;
      const box = text.getBoundingClientRect();
      const inside = box.left >= frame.left - 1 && box.right <= frame.right + 1 && box.top >= frame.top - 1 && box.bottom <= frame.bottom + 1;
      if (!inside) wrong.push(`cut off: '${text.textContent}'`);
    }
  }
  // How light a colour is, as readers see it; and how far apart two are.
  const light = colour => {
    const parts = colour.match(/[\d.]+/g).slice(0, 3).map(part => part / 255).map(part => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const contrast = (one, other) => (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  const behind = element => {
    const paper = element.closest?.('svg')?.querySelector('.paper');
    if (paper) return getComputedStyle(paper).fill;
    for (let it = element; it; it = it.parentElement) {
      const colour = getComputedStyle(it).backgroundColor;
      if (!colour.endsWith(', 0)') && colour !== 'transparent') return colour;
    }
    return 'rgb(255, 255, 255)';
  };
  const readable = (text, element) => {
    const style = getComputedStyle(element);
    const ink = element instanceof SVGElement ? style.fill : style.color;
    if (contrast(light(ink), light(behind(element))) < 3) wrong.push(`hard to read: '${text.trim().slice(0, 60)}'`);
  };
  const boxes = [];
  const add = (text, rect, element) => {
    let [left, right, top, bottom] = [rect.left, rect.right, rect.top, rect.bottom];
    for (const clip of clips(element)) {
      [left, right] = [Math.max(left, clip.left), Math.min(right, clip.right)];
    }
    // Lines of a paragraph stand close: what counts is the letters, not the room above and below them.
    const room = (bottom - top) * 0.2;
    [top, bottom] = [top + room, bottom - room];
    if (right - left > 1 && bottom - top > 1) boxes.push({ text, left: left + 0.5, right: right - 0.5, top, bottom });
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const element = node.parentElement;
    if (!node.data.trim() || ['script', 'style', 'title'].includes(element.tagName.toLowerCase())) continue;
    // What is folded, or hidden, has no place. What is dimmed is not read.
    if (element.getBoundingClientRect().width < 1 || !element.checkVisibility()) continue;
    readable(node.data, element);
    if (element instanceof SVGElement) {
      add(node.data, element.getBoundingClientRect(), element);
    } else {
      const range = document.createRange();
      range.selectNodeContents(node);
      for (const rect of range.getClientRects()) add(node.data.trim().slice(0, 60), rect, element);
    }
  }
  boxes.sort((one, other) => one.top - other.top);
  for (let i = 0; i < boxes.length; i++) {
    for (let j = i + 1; j < boxes.length && boxes[j].top < boxes[i].bottom; j++) {
      if (boxes[i].left < boxes[j].right && boxes[j].left < boxes[i].right) {
        wrong.push(`overlap: '${boxes[i].text}' and '${boxes[j].text}'`);
      }
    }
  }
  const places = [...document.querySelectorAll('a[href^="#"]')].map(it => it.getAttribute('href').slice(1));
  for (const place of new Set(places)) if (!document.getElementById(place)) wrong.push(`a link leads nowhere: '${place}'`);
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width) wrong.push(`wider than the screen: ${document.documentElement.scrollWidth}`);
  const figures = [...document.querySelectorAll('figure')].map(figure => {
    const shown = [...figure.querySelectorAll('svg, table, pre, .shares')].some(it => it.checkVisibility() && it.getBoundingClientRect().height > 20);
    return { id: figure.id, shown, command: figure.querySelector('figcaption code')?.textContent ?? '', steps: figure.querySelectorAll('.steps button').length };
  });
  const verdict = document.createElement('pre');
  verdict.id = 'verdict';
  verdict.textContent = JSON.stringify({ width: innerWidth, dark: matchMedia('(prefers-color-scheme: dark)').matches, texts: boxes.length, wrong, figures });
  parent.document.body.append(verdict);
})();
