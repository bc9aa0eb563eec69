/** Scripts for a page of the console: how it rendered hostile text, and the requests that its policy stops. */

export interface Look {
  marks: string[];
  /** Elements that no page makes by itself. */
  made: string[];
  ran: unknown[];
  polluted: string[];
}

/** Runs in the page: the marks that are visible, and anything but text that was made of them. */
export const LOOK = String.raw`(() => {
  const all = [...document.querySelectorAll('*')];
  const values = all.flatMap((one) => [one.value, ...[...one.attributes].map(({ value }) => value)]);
  // A terminal shows its spaces as those that do not break.
  const shown = [document.title, document.body.textContent, ...values].join('\n').replaceAll('\u00a0', ' ');
  const isOwn = (link) => new URL(link, location.origin).origin === location.origin;
  const isMade = (one) =>
    one.matches('iframe, svg, object, embed, base, template, meta[http-equiv], [autofocus], [srcdoc]') ||
    (one.matches('script') && !/^\/console\/assets\//.test(one.getAttribute('src'))) ||
    (one.matches('img') && one.getAttribute('src') !== '/console/favicon.svg') ||
    [...one.attributes].some(({ name, value }) =>
      /^on/.test(name) || (/^(?:xlink:)?href$|^src$|action$/.test(name) && !isOwn(value)));
  return {
    marks: [...new Set(shown.match(/⟨[^⟩]+⟩/g))],
    made: all.filter(isMade).map((one) => one.outerHTML.slice(0, 200)),
    ran: window.ran,
    polluted: Object.keys(Object.prototype),
  };
})()`;

/** Runs in the page: a script and an event handler attribute, as if escaping had failed. */
export const BREAK_IN = String.raw`(async () => {
  window.ran = [];
  const stopped = [];
  document.addEventListener('securitypolicyviolation', (event) => stopped.push(event.effectiveDirective));
  const script = document.createElement('script');
  script.textContent = 'ran.push("script")';
  document.body.append(script);
  document.body.insertAdjacentHTML('beforeend', '<b onclick="ran.push(1)">x</b>');
  document.body.lastElementChild.click();
  await new Promise((resolve) => setTimeout(resolve, 50));
  return { ran: window.ran, stopped: stopped.toSorted() };
})()`;

/** Runs in the page: styles in markup, as if escaping had failed, and the colours that three elements have then. */
export const RESTYLE = String.raw`(async () => {
  const stopped = [];
  document.addEventListener('securitypolicyviolation', (event) => stopped.push(event.effectiveDirective));
  document.body.insertAdjacentHTML(
    'beforeend',
    '<style>.made { color: red }</style><b class="made" style="color: red">x</b><span class="made" style="color: red">x</span><i class="made">x</i>',
  );
  await new Promise((resolve) => setTimeout(resolve, 50));
  const colours = [...document.querySelectorAll('.made')].map((one) => getComputedStyle(one).color);
  return { colours, stopped: stopped.toSorted() };
})()`;

export const HARMLESS: Omit<Look, 'marks'> = { made: [], ran: [], polluted: [] };
