/**
 * Lets xterm.js style its parts under a policy that allows no inline styles.
 *
 * It fills `style` elements and sets `style` attributes of spans, which the policy stops. The same text as an adopted sheet,
 * or through `element.style`, is allowed to scripts. HTML that is parsed takes neither way: its styles stay stopped.
 */

/** Runs what creates `style` elements: each is a hidden element instead, and its text a sheet of the document. */
export function withAdoptedStyles(work: () => void): void {
  const create = document.createElement.bind(document);
  const createOther = (name: string) => (name === 'style' ? adoptedStyle(create('span')) : create(name));
  document.createElement = createOther;
  try {
    work();
  } finally {
    // The one of its prototype is there again.
    Reflect.deleteProperty(document, 'createElement');
  }
}

export function allowStyledSpans(): void {
  HTMLSpanElement.prototype.setAttribute = function (name: string, value: string) {
    if (name === 'style') this.style.cssText = value;
    else Element.prototype.setAttribute.call(this, name, value);
  };
}

function adoptedStyle(element: HTMLElement): HTMLElement {
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  element.hidden = true;
  Object.defineProperty(element, 'textContent', {
    set(text: string) {
      sheet.replaceSync(text);
    },
  });
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
    Element.prototype.remove.call(element);
  };
  return element;
}
