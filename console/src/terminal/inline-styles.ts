/**
 * Lets xterm.js style its parts under a policy that allows no inline styles.
 *
 * It fills `style` elements and sets `style` attributes of spans, which the policy stops. The same text as an adopted
 * sheet, or through `element.style`, is allowed to scripts. Parsed HTML uses neither, so its styles stay blocked.
 */

/**
 * Runs code that creates `style` elements: each becomes a hidden element, and its text an adopted sheet of the
 * document.
 */
export function withAdoptedStyles(work: () => void): void {
  const create = document.createElement.bind(document);
  const createOther = (name: string) => (name === 'style' ? adoptedStyle(create('span')) : create(name));
  document.createElement = createOther;
  try {
    work();
  } finally {
    // Restores the `createElement` of the prototype.
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
