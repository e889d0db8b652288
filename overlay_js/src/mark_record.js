// What the record of a mark holds: its key, name, role, kind, state, box, points and evidence.
import { captchaEvidence } from './captcha.js';
import { documentElementOf, localNameOf, rectOf } from './dom.js';
import { enterRecordOf } from './enter_button.js';
import { bestNameOf } from './fallback_name.js';
import { isInDialog } from './hit_test.js';
import { identifyingWords, wordsBesideName } from './painted_text.js';
import { plainRect, rectOfArea } from './quad.js';
import { keyOf } from './registry.js';
import { kindOf, roleOf } from './role.js';
import { fingerprintOf, rememberIdentity, stateOf } from './state.js';
import { boundingArea, fillsItsBlock, intersect, visibleView } from './visible.js';

/** @import { Candidate } from './candidates.js' */
/** @import { EnterInForm } from './enter_button.js' */
/** @import { Labels } from './html_labels.js' */
/** @import { Area, Point } from './quad.js' */

/** CSS pixels; a box around anything thinner would look like a line. */
const THINNEST_BOX = 6;

/**
 * @param {Document} doc
 * @param {Candidate} candidate
 * @param {Point[]} points where a click reaches it
 * @param {Labels} labels
 * @param {Map<Element, string>} captchas
 * @param {Map<Element, EnterInForm>} forms what is known of forms
 */
export function markRecordOf(doc, candidate, points, labels, captchas, forms) {
  const { element, control } = candidate;
  const role = roleOf(control);
  const tag = control === documentElementOf(doc) ? 'iframe' : localNameOf(control); // what scrolls in the parent
  const kind = candidate.drawing ? 'surface' : kindOf(control, role, candidate.scrolls);
  const { name, lasting, how } = bestNameOf(element, control, kind, labels);
  const outline = outlineOf(candidate, points[0]);
  const state = stateOf(control, candidate.scrolls);
  const beside = wordsBesideName(element, control, kind, name, labels);
  rememberIdentity(element, control);
  if (candidate.opens) state.popup ??= 'hover';
  return {
    key: keyOf(doc, element), tag, role, kind, name, state,
    ...outline, points,
    evidence: [...candidate.evidence, ...(how ? [how] : []), ...captchaEvidence(element, captchas)],
    fingerprint: fingerprintOf(control, identifyingWords(lasting, beside?.shows ?? '')), inDialog: isInDialog(element),
    beside, enter: kind === 'field' || kind === 'toggle' ? enterRecordOf(control, labels, forms) : null,
    ...(kind === 'surface' ? { rect: plainRect(rectOf(element)) } : {}), // all of it, in view or not
  };
}

/**
 * Where the box of a mark is drawn, and its corners if it is turned.
 * @param {Pick<Candidate, 'element' | 'pieces' | 'outline'>} candidate
 * @param {Point} point where it is clicked
 */
export function outlineOf(candidate, point) {
  const piece = candidate.outline ?? outlinedPiece(candidate, point);
  return { box: rectOfArea(seenArea(piece)), corners: piece.corners };
}

/**
 * What the mark's outline goes around. For lines of running text it is the line that is clicked, because a box around
 * all of them would include their neighbours. What stands alone in its block is outlined as a whole.
 * @param {Pick<Candidate, 'element' | 'pieces'>} candidate
 * @param {Point} point
 */
function outlinedPiece({ element, pieces }, { x, y }) {
  if (pieces.length > 1 && !pieces.some((piece) => piece.corners) && fillsItsBlock(element)) {
    return boundingArea(pieces);
  }
  return pieces.find((piece) => x >= piece.x && x <= piece.right && y >= piece.y && y <= piece.bottom) ?? pieces[0];
}

/**
 * An area that a box can be drawn around: a thin bar with some room at both sides.
 * @param {Area} area
 */
function seenArea(area) {
  if (area.corners) return area;
  const across = Math.max(0, THINNEST_BOX - (area.right - area.x)) / 2;
  const along = Math.max(0, THINNEST_BOX - (area.bottom - area.y)) / 2;
  if (!across && !along) return area;
  return intersect(
    { x: area.x - across, y: area.y - along, right: area.right + across, bottom: area.bottom + along }, visibleView(),
  );
}
