// The page of a paired phone: the queue, its cards, and what was tapped, said as it is: on its way, done
// or refused. What is sent was signed once and is sent again under the same id until a reply comes.
import { drawCard, make, row } from "./card.js";
import { canNotify, install, subscription } from "./notices.js";
import { forget, keep, kept, newId, pairing, signed } from "./signing.js";
import { bytesOf, secretOf, straight, through } from "./wire.js";

const REPLY_MS = 8000, LOOK_MS = 30000, VOID_MS = 9 * 60_000, SHOWN_MS = 60_000, MOST_WAIT_MS = 8000;
const byId = (name) => document.getElementById(name);
const sections = ["pairing", "list", "card"].map(byId);
let phone = null, offsetMs = 0, seen = "", queue = { cards: [], sessions: [] }, lookedMs = 0, isLost = false, outbox = [], open = null, hint = null, carry = straight;

const installing = install();
const nowMs = () => Date.now() + offsetMs;
const clock = (ms) => new Date(ms).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const pause = (ms) => new Promise((resolve) => {
  const timer = setTimeout(resolve, ms);
  addEventListener("online", () => { clearTimeout(timer); resolve(); }, { once: true });
});

async function speak(body, boundMs = REPLY_MS) {
  const sent = Date.now();
  const reply = await carry(body, boundMs);
  // By the middle of the way; a look that waited tells the end of its wait.
  const took = Math.min(Date.now() - sent, 2000);
  offsetMs = reply.at_ms - (Date.now() - took / 2);
  return reply;
}

function show(name) { for (const one of sections) one.hidden = one.id !== name; scrollTo(0, 0); }

// --- looking ----------

function drawLink() {
  const line = byId("link"), since = lookedMs ? ` since ${clock(lookedMs)}` : "";
  line.className = isLost ? "lost" : "";
  line.textContent = isLost ? `No connection${since}. What you tap is sent when there is one.` : phone ? `Connected · ${phone.name}` : "";
}

async function look() {
  for (let wait = 500; phone;) {
    try {
      const reply = await speak(await signed(phone, { do: "look", seen }, nowMs()), LOOK_MS);
      if (reply.is_unpaired) return unpaired(reply);
      if (!reply.is_done) throw new Error(reply.message);
      isLost = false;
      if (!lookedMs) offerNotices(reply.vapid);
      lookedMs = Date.now();
      wait = 500;
      seen = reply.version ?? "";
      queue = { cards: reply.queue.cards ?? [], sessions: reply.queue.sessions ?? [] };
      draw();
    } catch {
      isLost = true;
      seen = "";
      drawLink();
      await pause(wait);
      wait = Math.min(wait * 2, MOST_WAIT_MS);
    }
  }
}

async function unpaired(reply) {
  phone = null;
  await forget("phone");
  byId("pairing-title").textContent = reply.message;
  byId("pairing-text").textContent = reply.remedy ?? "";
  drawLink();
  show("pairing");
}

// --- acting ----------

async function say(said, words, about) {
  const entry = { id: newId(), words, about, key: said.question_id ?? "", madeMs: Date.now(), state: "sending", note: "",
    envelope: await signed(phone, said, nowMs()) };
  outbox.push(entry);
  await keepOutbox();
  deliver(entry);
}

const keepOutbox = () => keep("outbox", outbox);

async function deliver(entry) {
  for (let wait = 500; entry.state === "sending" || entry.state === "lost";) {
    draw();
    try {
      const reply = await speak(entry.envelope);
      isLost = false;
      if (reply.is_done) Object.assign(entry, { state: "done", note: "", endMs: Date.now() });
      else if (!reply.may_help_again) Object.assign(entry, { state: "refused", note: [reply.message, reply.remedy].filter(Boolean).join(" "), endMs: Date.now() });
      else throw new Error(reply.message);
    } catch {
      isLost = true;
      if (Date.now() - entry.madeMs > VOID_MS) Object.assign(entry, { state: "refused", note: "It could not be sent in time and counts no more. Look whether it was done.", endMs: Date.now() });
      else {
        entry.state = "lost";
        draw();
        await pause(wait);
        wait = Math.min(wait * 2, MOST_WAIT_MS);
      }
    }
  }
  await keepOutbox();
  draw();
}

// What was tapped, as a thing under way, and as what it has become.
const WORDS = { approve: ["Approval", "Approved"], reject: ["Rejection", "Rejected"], answer: ["Answer", "Answered"],
  steer: ["Hint", "Hint delivered"], stop: ["Stop", "Stopped"], stop_all: ["Stop of all", "Stopped all"] };

function told(entry) {
  const [under, done] = WORDS[entry.words];
  switch (entry.state) {
    case "sending": return `${under}: sending, not confirmed yet.`;
    case "lost": return `${under}: not delivered yet, trying again.`;
    case "done": return `${done} at ${clock(entry.endMs)}.`;
    default: return `${under} refused: ${entry.note}`;
  }
}

// --- drawing ----------

const answered = (questionId) => outbox.findLast((one) => one.key === questionId && one.state !== "refused");

function draw() {
  drawLink();
  outbox = outbox.filter((one) => !one.endMs || Date.now() - one.endMs < SHOWN_MS || (open && one.key === open.question_id));
  const waiting = queue.cards.filter((one) => !answered(one.question_id));
  byId("cards").replaceChildren(...waiting.map((one) => row(one, nowMs(), () => openCard(one))));
  byId("nothing").hidden = waiting.length > 0;
  // What was not read yet is not empty.
  byId("nothing").textContent = lookedMs ? "No open questions." : "Not read yet.";
  byId("sent").replaceChildren(...outbox.map((one) => make("li", { className: one.state }, make("strong", { textContent: told(one) }), make("div", { className: "quiet", textContent: one.about }))));
  if (!hint) byId("sessions").replaceChildren(...queue.sessions.map(sessionRow));
  byId("idle").hidden = queue.sessions.length > 0 || !lookedMs;
  if (open) drawStatus();
}

function sessionRow(session) {
  const words = make("textarea", { rows: 2, maxLength: 3000, ariaLabel: "A hint for the session" });
  const writing = make("div", { hidden: true }, words);
  const steer = make("button", { textContent: "Steer" });
  steer.onclick = () => {
    if (writing.hidden) {
      // What is drawn anew would take the words that are being written.
      hint = session.session_id;
      writing.hidden = false;
      steer.textContent = "Send hint";
      words.focus();
      return;
    }
    hint = null;
    if (words.value.trim()) say({ do: "steer", session_id: session.session_id, text: words.value.trim() }, "steer", session.title);
    else draw();
  };
  const stop = make("button", { className: "stop", textContent: "Stop", onclick: () => {
    hint = null;
    say({ do: "stop", session_id: session.session_id }, "stop", session.title);
  } });
  const about = [session.phone, session.state.replaceAll("_", " ").toLowerCase()].filter(Boolean).join(" · ");
  return make("li", {}, make("strong", { textContent: session.title }), make("div", { className: "quiet", textContent: about }), writing, make("div", { className: "tools" }, stop, steer));
}

function openCard(card) {
  open = card;
  drawCard(byId("card"), card, {
    nowMs: nowMs(),
    back: () => history.back(),
    answer: (text, words) => say({ do: "answer", question_id: card.question_id, generation: card.generation, digest: card.digest, answer: text }, words, card.headline),
    stop: () => say({ do: "stop", session_id: card.session_id }, "stop", card.goal ?? card.headline),
    picture: async () => {
      const reply = await speak(await signed(phone, { do: "picture", question_id: card.question_id }, nowMs()), LOOK_MS);
      if (!reply.picture) throw new Error(reply.message);
      const bytes = Uint8Array.from(atob(reply.picture), (one) => one.charCodeAt(0));
      return URL.createObjectURL(new Blob([bytes], { type: "image/jpeg" }));
    },
  });
  history.pushState({ card: card.question_id }, "");
  show("card");
  drawStatus();
}

function drawStatus() {
  const status = byId("status"), entry = outbox.findLast((one) => one.key === open.question_id);
  const isOpen = queue.cards.some((one) => one.question_id === open.question_id && one.digest === open.digest && one.generation === open.generation);
  const isAnswered = entry && entry.state !== "refused";
  for (const one of byId("card").querySelectorAll(".buttons button, .choice")) one.disabled = isAnswered || !isOpen;
  if (status) status.textContent = entry ? told(entry) : isOpen ? "" : "This question is no longer open: it was answered elsewhere, or has changed.";
}

addEventListener("popstate", () => { open = null; draw(); show(phone ? "list" : "pairing"); });
async function offerNotices(vapid) {
  const installed = await installing;
  byId("notify").hidden = !vapid || !(await canNotify(installed));
  byId("notify").onclick = async () => {
    const said = await subscription(installed, vapid).catch(() => null);
    byId("notify").textContent = said ? "Turning notices on…" : "The browser gave no address for notices.";
    if (!said) return;
    const reply = await signed(phone, said, nowMs()).then(speak).catch(() => ({ message: "No connection." }));
    byId("notify").textContent = reply.is_done ? "Notices are on." : `Notices are not on: ${reply.message}`;
  };
}

byId("stop-all").onclick = () => say({ do: "stop_all" }, "stop_all", "Every session");

// --- pairing ----------

async function pair(code, secret) {
  const go = byId("pairing-go"), text = byId("pairing-text");
  go.disabled = true;
  text.textContent = "Pairing…";
  try {
    const { key, body } = await pairing(code);
    const reply = await speak(body);
    if (reply.is_done) {
      phone = { id: reply.phone_id, name: reply.name, key, secret };
      await keep("phone", phone);
      await forget("pairing");
      return begin();
    }
    byId("pairing-title").textContent = "Not paired";
    text.textContent = [reply.message, reply.remedy].filter(Boolean).join(" ");
    go.hidden = !reply.may_help_again && !phone;
    if (phone) {
      go.textContent = "Open the queue";
      go.onclick = () => location.reload();
    }
  } catch {
    byId("pairing-title").textContent = "No connection";
    text.textContent = "The computer did not answer. Try again: the code counts for some minutes.";
  }
  go.disabled = false;
}

function begin() {
  open = null;
  show("list");
  draw();
  look();
  for (const one of outbox) deliver(one);
}

async function start() {
  const [code, print, sealedBy] = location.hash.slice(1).split(".");
  // Out of the address, where it could be copied or kept in a history.
  history.replaceState(null, "", location.pathname);
  phone = await kept("phone") ?? null;
  outbox = (await kept("outbox") ?? []).filter((one) => Date.now() - one.madeMs < VOID_MS);
  const secret = sealedBy ? await secretOf(bytesOf(sealedBy)) : code ? null : phone?.secret;
  if (secret) carry = await through(secret);
  if (!code) {
    if (phone) return begin();
    return show("pairing");
  }
  byId("pairing-title").textContent = "Pair this phone?";
  byId("pairing-text").textContent = "It will approve, reject, answer, steer and stop what your computer asks.";
  if (print) {
    const hex = Array.from(bytesOf(print), (one) => one.toString(16).padStart(2, "0"));
    byId("pairing-print").textContent = `Certificate, as the browser should show it (SHA-256): ${hex.join(":").toUpperCase()}…`;
    byId("pairing-print").hidden = false;
  }
  byId("pairing-go").hidden = false;
  byId("pairing-go").onclick = () => pair(code, secret);
  show("pairing");
}

start();
