// Signs in with the token after the # of a link. A person presses the button: programs that only look at a link, as
// chat services do, would otherwise use the token up. What follows the # is sent to no server by itself.
'use strict';

const token = new URLSearchParams(location.hash.slice(1)).get('token');
const [said, enter] = ['said', 'enter'].map((id) => document.getElementById(id));
history.replaceState(null, '', '/');

addEventListener('hashchange', () => location.reload()); // another link was opened in this tab

if (token) {
  said.textContent = 'This link works once, in one browser.';
  enter.hidden = false;
  enter.focus();
  enter.onclick = async () => {
    enter.disabled = true;
    const answer = await fetch('/sign-in', {
      method: 'POST', body: JSON.stringify({ token }), headers: { 'Content-Type': 'application/json' },
    }).catch(() => null);
    if (answer?.ok) {
      sessionStorage.setItem('key', (await answer.json()).key);
      return location.replace('/');
    }
    enter.hidden = true;
    said.textContent = answer ? (await answer.json()).sentence : 'Cannot reach the run; has it ended?';
  };
}
