// Steps through a run by keyboard, and writes down what there is to see at each step.
(() => {
  const figure = document.getElementById('FIGURE');
  const steps = figure.querySelector('.steps');
  const texts = selector => [...steps.querySelectorAll(selector)].map(it => it.textContent);
  const press = key => {
    const focused = document.activeElement;
    if (!steps.contains(focused)) throw new Error(`${key}: the keyboard is elsewhere`);
    focused.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
  };
  const see = () => ({
    count: steps.querySelector('output').textContent,
    says: steps.querySelector('[aria-live=polite]').textContent,
    hidden: steps.querySelector('.says').hidden,
    names: texts('.known thead th'),
    rows: [...steps.querySelectorAll('.known tbody tr')].map(row => [...row.children].map(cell => cell.textContent)),
    later: figure.querySelectorAll('svg .later').length,
    shown: figure.querySelectorAll('svg [data-at]:not(.later)').length,
    now: figure.querySelectorAll('svg .now').length,
  });
  const seen = { whole: see(), steps: [], label: steps.getAttribute('aria-label') };
  steps.querySelector('button:not(:disabled)').focus();
  press('Home');
  seen.steps.push(see());
  for (let last = ''; last !== seen.steps.at(-1).count && seen.steps.length < 1000;) {
    last = seen.steps.at(-1).count;
    press('ArrowRight');
    if (see().count !== last) seen.steps.push(see());
  }
  press('ArrowLeft');
  seen.back = see();
  press('Escape');
  seen.escaped = see();
  const verdict = document.createElement('pre');
  verdict.id = 'verdict';
  verdict.textContent = JSON.stringify(seen);
  parent.document.body.append(verdict);
})();
