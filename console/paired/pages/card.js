// How the queue and one card of it are drawn. Everything from the phone or a model is text, never
// markup.

export function make(tag, fields = {}, ...children) {
  const node = Object.assign(document.createElement(tag), fields);
  node.append(...children.filter((one) => one !== null && one !== ""));
  return node;
}

function left(card, nowMs) {
  if (!card.deadline_ms) return "";
  const seconds = Math.max(0, Math.round((card.deadline_ms - nowMs) / 1000));
  return seconds >= 90 ? `${Math.round(seconds / 60)} min left` : `${seconds} s left`;
}

export function row(card, nowMs, open) {
  const about = [card.phone, left(card, nowMs)].filter(Boolean).join(" · ");
  return make("li", {}, make("button", { className: "row", onclick: open },
    make("strong", { textContent: card.headline }), make("span", { className: "quiet", textContent: about })));
}

function facts(card) {
  const list = make("dl");
  for (const one of card.facts ?? []) {
    if (one.text) list.append(make("dt", { textContent: one.name }));
    list.append(make("dd", { className: one.is_unsure ? "unsure" : "", textContent: one.text || one.name },
      one.note ? make("small", { textContent: ` (${one.note})` }) : ""));
  }
  return list;
}

// One card, as it was when it was opened: it never becomes another one under the finger.
export function drawCard(place, card, { nowMs, answer, back, stop, picture }) {
  const status = make("p", { id: "status", role: "status" });
  const words = make("textarea", { id: "words", rows: 3, maxLength: 3000 });
  const why = make("div", { id: "why", hidden: true }, make("label", { htmlFor: "words" }), words);
  const parts = [
    make("button", { id: "back", className: "flat", textContent: "‹ All questions", onclick: back }),
    make("h2", { textContent: card.headline }),
    make("p", { className: "act", textContent: card.act ?? "" }),
    facts(card),
    make("p", { className: "unsure", textContent: card.note ?? "" }),
  ];
  const frame = make("figure", { hidden: true });
  if (card.has_picture) {
    parts.push(frame);
    picture().then((url) => {
      frame.append(make("img", { src: url, alt: "The phone's screen as it was asked" }));
      frame.hidden = false;
    }, () => {
      frame.append(make("figcaption", { className: "quiet", textContent: "The picture did not come." }));
      frame.hidden = false;
    });
  }
  parts.push(make("p", { className: "quiet", textContent: [card.goal && `Goal: ${card.goal}`, left(card, nowMs)].filter(Boolean).join(" · ") }));
  const buttons = make("div", { className: "buttons" });
  const bar = make("footer", { id: "bar" }, status, buttons);
  const label = why.firstChild;
  if (card.is_approval) {
    const approve = make("button", { id: "approve", className: "yes", textContent: "Approve", onclick: () => answer("Approve", "approve") });
    const reject = make("button", { id: "reject", className: "no", textContent: "Reject" });
    label.textContent = "Why not? The agent reads it. You may leave it empty.";
    reject.onclick = () => {
      if (why.hidden) {
        why.hidden = false;
        // Where the other answer stood, nothing stands: a finger that comes late meets it nowhere.
        approve.hidden = true;
        reject.textContent = "Reject now";
        why.scrollIntoView({ block: "center" });
        return;
      }
      const reason = words.value.trim().replaceAll(/\s+/g, " ");
      answer(reason ? `Deny: ${reason}` : "Deny", "reject");
    };
    buttons.append(reject, approve);
  } else {
    why.hidden = false;
    label.textContent = "Your answer";
    if (card.is_secret) words.className = "secret";
    for (const one of card.choices ?? []) {
      parts.push(make("button", { className: "wide choice", onclick: () => answer(one.label, "answer") },
        make("strong", { textContent: one.shown }), one.description ? make("span", { className: "quiet", textContent: one.description }) : ""));
    }
    buttons.append(make("button", { id: "stop", className: "stop", textContent: "Stop session", onclick: stop }),
      make("button", { id: "send", className: "yes", textContent: "Send", onclick: () => words.value.trim() && answer(words.value, "answer") }));
  }
  place.replaceChildren(...parts, why, bar);
  // The second tap of a double tap on the list answers nothing.
  buttons.inert = true;
  setTimeout(() => { buttons.inert = false; }, 400);
}
