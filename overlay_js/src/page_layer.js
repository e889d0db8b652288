// Shows the marks on the live page to a person who watches: in the top layer, above modal dialogs, and letting clicks
// through. Nothing else touches the page, and this happens only on request.
import { createElement, documentElementOf } from './dom.js';
import { paintLayer } from './draw.js';

const shown = { host: /** @type {HTMLElement | null} */ (null) };

/**
 * @param {Document} doc @param {any} layer
 * @param {{x: number, y: number, width: number, height: number}} box where the picture lies in the viewport
 */
export function showLayer(doc, layer, box) {
  hideLayer();
  const host = createElement(doc, 'div');
  // The canvas itself is shown, because the page's content policy might block a picture of it.
  const image = paintLayer(doc, layer);
  const place = `left:${box.x}px;top:${box.y}px;width:${box.width}px;height:${box.height}px`;
  host.attachShadow({ mode: 'closed' }).append(image);
  image.style.cssText = 'display:block;width:100%;height:100%;pointer-events:none';
  const looks = 'margin:0;border:0;padding:0;background:none;pointer-events:none;z-index:2147483647';
  host.style.cssText = `all:initial;position:fixed;${place};${looks}`;
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
