// The marks on the live page, for a person who watches: in the top layer, above modal dialogs, letting clicks through.
// This is the one thing that touches the page, and only when it is asked for.
import { documentElementOf, madeElement } from './dom.js';
import { paintLayer } from './draw.js';

const shown = { host: /** @type {HTMLElement | null} */ (null) };

/** @param {Document} doc @param {any} layer @param {{x: number, y: number, width: number, height: number}} box where the picture lies in the viewport */
export function showLayer(doc, layer, box) {
  hideLayer();
  const host = madeElement(doc, 'div');
  // The canvas itself: a picture of it would have to be let in by the page's content policy.
  const image = paintLayer(doc, layer);
  const place = `left:${box.x}px;top:${box.y}px;width:${box.width}px;height:${box.height}px`;
  host.attachShadow({ mode: 'closed' }).append(image);
  image.style.cssText = 'display:block;width:100%;height:100%;pointer-events:none';
  host.style.cssText = `all:initial;position:fixed;${place};margin:0;border:0;padding:0;background:none;pointer-events:none;z-index:2147483647`;
  host.setAttribute('popover', 'manual');
  documentElementOf(doc).append(host);
  host.showPopover?.();
  shown.host = host;
  return { shown: true };
}

export function hideLayer() {
  shown.host?.remove();
  shown.host = null;
  return { shown: false };
}
