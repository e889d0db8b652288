// The selector engine `mark`, as Playwright sees it. It runs in Playwright's isolated world.
//
// `mark=key:<key>` is a live element. Any other body is base64 of a JSON request. The answer is the text of an element
// that is in no document, so that the page is not touched.
import { expectOwnKeys } from './beside_choices.js';
import { canvasPart } from './canvas_pixels.js';
import { dropSuspects, takeSuspects } from './closed_shadow_suspects.js';
import { createElement, inOneMoment, rememberClosedRoots, titleOf } from './dom.js';
import { whatGetsDrop } from './drop_receiver.js';
import { findNamed } from './find_named.js';
import { frameGeometryOf } from './frame_place.js';
import { OVERLAY } from './frame_context.js';
import { playerUnderPointer, spotToShow } from './player_controls.js';
import { changedValues, rememberValues } from './held_values.js';
import { stopHumanInput, watchHumanInput } from './human_input.js';
import { armKeyGuard, insertGuarded, reportKeyGuard } from './key_guard.js';
import { hideLayer, showLayer } from './page_layer.js';
import { countAlike, keysWithin, readPage, readTable } from './page_text.js';
import { reportPaint } from './mere_paint.js';
import { armPressGuard, reportPressGuard, stopClicks } from './press_guard.js';
import { pointerLockOf } from './pointer_lock.js';
import { describeFocus, fileFieldOf, findStandIns, keysAt, listedValues, middleOf, recheck } from './recheck.js';
import { recheckPlace, reportShape, scrollContainer, scrollPlaces, selectInFocus } from './recheck.js';
import { valueFits, whichPointsShow } from './recheck.js';
import { readRecordSets } from './record_sets.js';
import { documentToken, elementOf, setListeners } from './registry.js';
import { scan } from './scan.js';
import { isFrameSeen } from './seen_area.js';
import { setValue } from './set_value.js';
import { findShownText, textToSearch } from './shows_text.js';
import { lastChangeAt, reportMoved, stabilityOf } from './stability.js';
import { tidy } from './text.js';
import { locateWords, selectedText } from './text_selection.js';
import { wordsAbout } from './twins.js';
import { pinchZoom } from './visible.js';
import { readValue } from './whole_value.js';
import { takeLiveWords, watchLiveWords } from './word_watch.js';

const QUOTE = '`';

/** @param {Document} doc @param {Node} root @param {any} request @returns {unknown} */
function answer(doc, root, request) {
  switch (request.ask) {
    case 'several': return { answers: request.requests.map((/** @type {any} */ each) => tryAnswer(doc, root, each)) };
    case 'scan': return inOneMoment(() => scan(doc, request));
    case 'check': return recheck(doc, request);
    case 'middle': return middleOf(doc, request);
    case 'named': return inOneMoment(() => findNamed(doc, request));
    case 'canvas': return canvasPart(doc, request);
    case 'twins': return wordsAbout(doc, request);
    case 'spot_to_show': return spotToShow(doc, request);
    case 'player': return playerUnderPointer(doc, request);
    case 'gets_drop': return whatGetsDrop(doc, request);
    case 'stand_ins': return findStandIns(doc, request);
    case 'shows': return whichPointsShow(doc, request);
    case 'focused': return describeFocus(doc, request);
    case 'select_own': return selectInFocus(doc, request);
    case 'guard': return armPressGuard(doc, request);
    case 'guarded': return reportPressGuard(request);
    case 'stop_clicks': return stopClicks();
    case 'guard_keys': return armKeyGuard(doc, request);
    case 'keys_guarded': return reportKeyGuard();
    case 'own_keys': return expectOwnKeys(request);
    case 'insert': return insertGuarded(doc, request);
    case 'remember_values': return rememberValues(doc);
    case 'changed_values': return changedValues(doc);
    case 'set': return setValue(doc, request);
    case 'watch': return watchHumanInput(doc, request);
    case 'leave': return stopHumanInput(request);
    case 'paint': return reportPaint(doc, request);
    case 'under': return keysAt(doc, request);
    case 'outside_shape': return reportShape(doc, request);
    case 'fits': return valueFits(doc, request);
    case 'file_field': return fileFieldOf(doc, request);
    case 'listed': return listedValues(doc, request);
    case 'shows_text': return findShownText(doc, request.text, request.veiled);
    case 'text_to_search': return textToSearch(doc);
    case 'frame_seen': return { seen: root instanceof Element && isFrameSeen(doc, root) };
    case 'read': return readPage(doc, request);
    case 'table': return readTable(doc, request);
    case 'value': return readValue(doc, request);
    case 'record_sets': return readRecordSets(doc, request);
    case 'words': return locateWords(doc, request);
    case 'selected': return selectedText();
    case 'within': return keysWithin(doc, request);
    case 'alike': return countAlike(doc, request);
    case 'scroll': return scrollContainer(doc, request);
    case 'scroll_places': return scrollPlaces(doc, request);
    case 'frame': return locateFrame(doc, root, request);
    case 'quiet': return stabilityOf(doc);
    case 'token': return { token: documentToken(doc) };
    case 'moved': return reportMoved(doc);
    case 'live_words': return inOneMoment(() => watchLiveWords(doc));
    case 'live_words_since': return takeLiveWords(doc);
    case 'pointer': return pointerLockOf(doc);
    case 'title': return { title: tidy(titleOf(doc)) };
    case 'show': return showLayer(doc, request.layer, request.box);
    case 'hide': return hideLayer();
    default: throw new Error(`the overlay does not know how to ${request.ask}`);
  }
}

/** The answer, or why there is none. @param {Document} doc @param {Node} root @param {any} request */
function tryAnswer(doc, root, request) {
  try {
    return { answer: answer(doc, root, request) };
  } catch (error) {
    return { thrown: String(error) };
  }
}

/**
 * JSON with another sign for its quotes. Two protocols would each escape every quote, which takes 6 ms for a page with
 * 200 marks. The backtick is the rarest in text of the signs that need no escape.
 * @param {string} json
 */
function withoutQuotes(json) {
  return json.replaceAll(QUOTE, '\\u0060').replaceAll('"', QUOTE);
}

/**
 * Where a frame lies. Its element is known by its key, or it is the element that the question was asked about.
 * @param {Document} doc @param {Node} root @param {any} request
 */
function locateFrame(doc, root, request) {
  const element = request.key ? elementOf(doc, request.key) : /** @type {Element} */ (root);
  return element
    ? { found: true, ...frameGeometryOf(doc, element), zoom: pinchZoom(), held: recheckPlace(element, request) }
    : { found: false };
}

// Through this global of the isolated world, which no page can see, the browser itself gives the overlay facts that it
// cannot get from the page, and asks it questions when Playwright no longer can. Overlays in frames ask each other.
Reflect.set(globalThis, OVERLAY, {
  hear: setListeners, open: rememberClosedRoots, takeSuspects, dropSuspects, ask: answer, recheckPlace, lastChangeAt,
});

export const engine = {
  /** @param {Node} root @param {string} body */
  query(root, body) {
    return engine.queryAll(root, body)[0] ?? null;
  },
  /** @param {Node} root @param {string} body @returns {Element[]} */
  queryAll(root, body) {
    const doc = root instanceof Document ? root : /** @type {Document} */ (root.ownerDocument);
    if (body.startsWith('key:')) {
      const element = elementOf(doc, body.slice(4));
      return element ? [element] : [];
    }
    const bytes = Uint8Array.from(atob(body), (letter) => letter.charCodeAt(0));
    const request = JSON.parse(new TextDecoder().decode(bytes));
    // Nested twice: for its log, Playwright shortens attributes and the only text in an element letter by letter.
    const [carrier, inner] = [createElement(doc, 'meta'), createElement(doc, 'meta')];
    inner.textContent = withoutQuotes(JSON.stringify(answer(doc, root, request)));
    carrier.append(inner);
    return [carrier];
  },
};
