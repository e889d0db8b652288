// Since when nothing has changed. The observer lives in the isolated world, where the page cannot see it.
import { documentElementOf, readyStateOf } from './dom.js';

const watch = { last: 0, doc: /** @type {Document | null} */ (null) };

/** Milliseconds since the last change of the DOM, and what else is still going on. @param {Document} doc */
export function quietOf(doc) {
  if (watch.doc !== doc) {
    watch.doc = doc;
    watch.last = performance.now();
    const observer = new MutationObserver(() => (watch.last = performance.now()));
    observer.observe(doc, { childList: true, subtree: true, attributes: true, characterData: true });
  }
  // An animation without end is decoration; one that ends moves things to where they will be.
  const moving = Document.prototype.getAnimations.call(doc).filter((animation) => {
    const timing = animation.effect?.getComputedTiming();
    return animation.playState === 'running' && timing && Number.isFinite(timing.endTime) && timing.activeDuration !== 0;
  });
  return { quietMs: performance.now() - watch.last, ready: readyStateOf(doc), moving: moving.length, blank: !documentElementOf(doc) };
}
