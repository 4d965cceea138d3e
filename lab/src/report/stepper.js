// Steps through the runs of the page. Without it each picture shows its run as a whole.
(() => {
  const NAMES = { ArrowLeft: 'back', ArrowRight: 'forth', Home: 'first', End: 'last', Escape: 'whole' };
  const make = (name, parent, text, set) => {
    const it = Object.assign(document.createElement(name), set);
    if (text !== undefined) it.textContent = text;
    parent.append(it);
    return it;
  };
  const stepper = data => {
    const place = data.parentElement;
    const svg = place.querySelector('svg.spacetime');
    const run = JSON.parse(data.textContent);
    const total = run.steps.length;
    // 0 is before the first step; null is the whole picture, as it stands without scripts.
    let at = null;
    let timer = null;

    const steps = make('div', place, undefined, { className: 'steps' });
    steps.setAttribute('role', 'group');
    steps.setAttribute('aria-label', 'Step through this run. Arrow keys: back and forth. Home, End. Escape: the whole picture.');
    const keys = make('div', steps, undefined, { className: 'keys' });
    const back = make('button', keys, '← Back', { type: 'button' });
    const forth = make('button', keys, 'Forth →', { type: 'button' });
    const play = make('button', keys, 'Play', { type: 'button' });
    const count = make('output', keys, `${total} steps`);
    const says = make('p', steps, '', { className: 'says', hidden: true });
    says.setAttribute('aria-live', 'polite');
    const scroll = make('div', steps, undefined, { className: 'scroll', hidden: true });
    const table = make('table', scroll, undefined, { className: 'known' });
    const head = make('tr', make('thead', table));
    for (const name of ['node', ...run.names]) make('th', head, name, { scope: 'col' });
    const body = make('tbody', table);
    const cells = run.start.map((row, node) => {
      const line = make('tr', body);
      make('th', line, `n${node}`, { scope: 'row' });
      return row.map(value => make('td', line, value));
    });
    const now = document.createElementNS(svg.namespaceURI, 'line');
    now.setAttribute('class', 'now');
    now.setAttribute('y1', '4');
    now.setAttribute('y2', String(svg.viewBox.baseVal.height - 30));

    const show = () => {
      const whole = at === null;
      says.hidden = scroll.hidden = whole;
      svg.classList.toggle('stepping', !whole);
      const events = whole ? Infinity : at === 0 ? 0 : run.steps[at - 1].events;
      for (const part of svg.querySelectorAll('[data-at]')) {
        part.classList.toggle('later', part.dataset.at > events);
        part.classList.toggle('flying', !whole && part.dataset.to > events && part.dataset.at <= events);
      }
      now.remove();
      count.textContent = whole ? `${total} steps` : `${at} of ${total}`;
      back.disabled = !at;
      forth.disabled = at === total;
      if (whole) return;
      const known = run.start.map(row => [...row]);
      let fresh = [];
      for (const step of run.steps.slice(0, at)) {
        fresh = step.learns.map(([index, value]) => {
          known[step.node][index] = value;
          return `${step.node}.${index}`;
        });
      }
      known.forEach((row, node) => row.forEach((value, index) => {
        cells[node][index].textContent = value;
        cells[node][index].classList.toggle('new', at > 0 && fresh.includes(`${node}.${index}`));
      }));
      says.textContent = at === 0 ? 'Before anything happens.' : `${run.steps[at - 1].says}.`;
      if (at === total && run.ends) {
        says.append(' ');
        make('span', says, `${run.ends}.`, { className: 'wrong-end' });
      }
      if (at > 0) {
        const x = Number(svg.dataset.left) + run.times[at - 1] * Number(svg.dataset.scale);
        now.setAttribute('x1', x);
        now.setAttribute('x2', x);
        svg.append(now);
        const window = svg.parentElement;
        if (x < window.scrollLeft + 40 || x > window.scrollLeft + window.clientWidth - 40) window.scrollLeft = x - window.clientWidth / 2;
      }
    };
    const stop = () => {
      clearInterval(timer);
      timer = null;
      play.textContent = 'Play';
    };
    const go = to => {
      at = to === null ? null : Math.max(0, Math.min(total, to));
      if (timer !== null && at === total) stop();
      show();
    };
    const deeds = {
      back: () => go((at ?? 1) - 1),
      forth: () => go((at ?? -1) + 1),
      first: () => go(0),
      last: () => go(total),
      whole: () => go(null),
    };
    const by_hand = deed => () => {
      stop();
      deed();
    };
    back.onclick = by_hand(deeds.back);
    forth.onclick = by_hand(deeds.forth);
    play.onclick = () => {
      if (timer !== null) return stop();
      go(at === null || at === total ? 0 : at);
      play.textContent = 'Pause';
      timer = setInterval(deeds.forth, 700);
    };
    steps.addEventListener('keydown', event => {
      const name = NAMES[event.key];
      if (!name || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      by_hand(deeds[name])();
      // A button that was switched off would lose the keyboard.
      if (document.activeElement === document.body || document.activeElement.disabled) play.focus();
    });
    show();
  };
  // What is folded gets its buttons when it is opened.
  for (const data of document.querySelectorAll('script.run')) {
    const folded = data.closest('details:not([open])');
    if (folded) folded.addEventListener('toggle', () => stepper(data), { once: true });
    else stepper(data);
  }
  // A link to something that is folded opens it.
  const open = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let it = target; it; it = it.parentElement) if (it.tagName === 'DETAILS') it.open = true;
    if (target) target.scrollIntoView();
  };
  addEventListener('hashchange', open);
  open();
  addEventListener('beforeprint', () => document.querySelectorAll('details').forEach(it => { it.open = true; }));
})();
