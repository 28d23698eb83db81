// The phone panel: the screen of one phone as a picture, at the sharpness of this display, and what
// a mouse, a finger and a keyboard do on it. Its socket is the panel's own; the console in the
// terminal beside it knows nothing of it. Messages are those of console/web/phone_messages.py.
"use strict";

(() => {
  const MOVED_PX = 10; // A finger that moves less than this presses.
  const LONG_MS = 500;
  const TYPING_MS = 40; // Letters that come faster than this are sent together.
  const AGAIN_MS = 2000;
  const SILENT_S = 3; // Of a picture that says it is live, at most.
  const WHEEL_STEP = 0.25; // Of the screen's height, for one notch.
  const KEYS = { Enter: "ENTER", Backspace: "DELETE", Escape: "BACK", Home: "HOME" };
  const STATES = {
    live: "live", static: "live, unchanged", stale: "old", secure: "The app forbids pictures of this screen", unknown: "black, for an unknown reason",
    lost: "The phone is away", error: "No picture",
  };

  const get = (id) => document.getElementById(id);
  const panel = get("phone"), picker = get("phone-picker"), screen = get("phone-screen");
  const status = get("phone-status"), problem = get("phone-problem"), driving = get("phone-driving");
  const wheel = get("phone-wheel"), typing = get("phone-typing"), keyboard = get("phone-keyboard");
  const paint = screen.getContext("2d");
  let socket = null, serial = "", held = false, picture = null, drawnAt = 0, letters = "", sending = 0;
  let touch = null, beside = "", known = [];

  const send = (message) => socket?.readyState === WebSocket.OPEN && socket.send(JSON.stringify(message));
  const act = (gesture) => held && send({ type: "act", gesture });

  function connect() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    socket = new WebSocket(`${scheme}://${location.host}/phone`);
    socket.binaryType = "blob";
    socket.onopen = () => { say(""); show(); };
    socket.onmessage = (event) => (typeof event.data === "string" ? hear(JSON.parse(event.data)) : draw(event.data));
    socket.onclose = () => {
      hold(false);
      if (panel.hidden) return;
      say("The connection ended. Trying again…");
      setTimeout(() => !panel.hidden && connect(), AGAIN_MS);
    };
  }

  function open(opened) {
    panel.hidden = !opened;
    document.body.classList.toggle("-phone", opened);
    get("phone-open").setAttribute("aria-expanded", String(opened));
    // Keys go to the console again once the panel is closed.
    if (opened) { connect(); picker.focus(); } else { socket?.close(); document.querySelector("#terminal textarea")?.focus(); }
    window.dispatchEvent(new Event("resize")); // The terminal takes the room that is left.
  }

  function show() {
    const box = screen.getBoundingClientRect(), dense = window.devicePixelRatio || 1;
    send({
      type: "show", serial,
      width_px: Math.max(Math.round(box.width * dense), 1), height_px: Math.max(Math.round(box.height * dense), 1),
    });
  }

  function hear(message) {
    if (message.type === "phones") list(message);
    else if (message.type === "wheel") hold(message.held);
    else if (message.type === "problem") say(`${message.message} ${message.remedy}`);
    else if (message.type === "picture") {
      picture = message;
      drawnAt = performance.now() - message.age_ms;
      if (!message.has_bytes) { tell(); send({ type: "shown", number: message.number }); }
    }
  }

  // Show the phone that the console shows.
  function follow() {
    if (beside === serial || !known.includes(beside)) return;
    serial = picker.value = beside;
    picture = null;
    paint.clearRect(0, 0, screen.width, screen.height);
    show();
  }

  function list({ phones, may_drive }) {
    driving.hidden = !may_drive;
    known = phones.map((phone) => phone.serial);
    picker.replaceChildren(...phones.map((phone) => {
      const option = document.createElement("option");
      const driver = phone.driver && ` · driven by ${phone.driver === "operator" ? "an operator" : "an agent"}`;
      const busy = phone.state === "device" ? driver : ` · ${phone.state}`;
      option.value = phone.serial;
      option.textContent = phone.name + busy; // Text, never markup: a phone chose its name.
      return option;
    }));
    if (!known.length) { status.textContent = "No phones."; return; }
    if (!known.includes(serial)) { serial = known.includes(beside) ? beside : known[0]; show(); }
    picker.value = serial;
  }

  async function draw(data) {
    const now = picture;
    const image = await createImageBitmap(data);
    if (screen.width !== image.width || screen.height !== image.height) {
      screen.width = image.width; screen.height = image.height;
    }
    paint.drawImage(image, 0, 0);
    image.close();
    tell();
    send({ type: "shown", number: now.number });
  }

  function tell() {
    if (!picture) return;
    const age_s = Math.max((performance.now() - drawnAt) / 1000, 0);
    const old = ["stale", "lost", "error", "secure", "unknown"].includes(picture.status);
    // A picture that does not change is confirmed all the time: without that it is not live.
    const silent = !old && age_s >= SILENT_S;
    screen.classList.toggle("-old", old || silent);
    const said = silent ? "not live" : picture.detail || STATES[picture.status] || picture.status;
    status.textContent = age_s >= 2 ? `${said} · ${Math.round(age_s)} s old` : said;
  }

  function say(text) { problem.textContent = text; }

  function hold(now) {
    held = now;
    wheel.textContent = now ? "Hand back" : "Take the wheel";
    screen.classList.toggle("-driven", now);
    for (const one of driving.querySelectorAll("[data-button], #phone-keyboard")) one.disabled = !now;
    if (now) { say(""); screen.focus(); }
  }

  // The picture is as large as fits; what lies beside it is no part of the phone.
  function place(event) {
    const box = screen.getBoundingClientRect();
    const scale = Math.min(box.width / screen.width, box.height / screen.height);
    const left = box.left + (box.width - screen.width * scale) / 2, top = box.top + (box.height - screen.height * scale) / 2;
    const at = { x: (event.clientX - left) / (screen.width * scale), y: (event.clientY - top) / (screen.height * scale) };
    return at.x >= 0 && at.x <= 1 && at.y >= 0 && at.y <= 1 ? at : null;
  }

  const inside = (value) => Math.min(Math.max(value, 0), 1);

  screen.addEventListener("pointerdown", (event) => {
    screen.focus();
    const at = place(event);
    if (!held || !at || touch) return;
    screen.setPointerCapture(event.pointerId);
    touch = { id: event.pointerId, at, x: event.clientX, y: event.clientY, began: performance.now() };
  });
  screen.addEventListener("pointerup", (event) => {
    if (!touch || touch.id !== event.pointerId) return;
    const { at, x, y, began } = touch, took = performance.now() - began;
    touch = null;
    const box = screen.getBoundingClientRect();
    const scale = Math.min(box.width / screen.width, box.height / screen.height);
    const across = event.clientX - x, down = event.clientY - y;
    if (Math.hypot(across, down) >= MOVED_PX) {
      const end = { x: inside(at.x + across / (screen.width * scale)), y: inside(at.y + down / (screen.height * scale)) };
      act({ do: "swipe", start: at, end, duration_ms: Math.round(Math.min(Math.max(took, 50), 5000)) });
    } else if (took >= LONG_MS) act({ do: "long_press", at });
    else act({ do: "tap", at });
  });
  screen.addEventListener("pointercancel", () => { touch = null; });
  screen.addEventListener("contextmenu", (event) => event.preventDefault());
  screen.addEventListener("wheel", (event) => {
    const at = place(event);
    if (!held || !at) return;
    event.preventDefault();
    if (sending) return;
    sending = setTimeout(() => { sending = 0; }, 250);
    const far = Math.sign(event.deltaY) * WHEEL_STEP;
    act({ do: "swipe", start: { x: at.x, y: inside(0.5 + far) }, end: { x: at.x, y: inside(0.5 - far) }, duration_ms: 200 });
  }, { passive: false });

  function type(text) {
    if (!letters) setTimeout(flush, TYPING_MS);
    letters += text;
  }
  function flush() { if (letters) { const said = letters; letters = ""; act({ do: "text", text: said }); } }

  function press(event) {
    if (!held || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (KEYS[event.key]) { flush(); act({ do: "button", button: KEYS[event.key] }); }
    else if (event.key.length === 1 && event.target === screen) type(event.key);
    else return;
    event.preventDefault();
  }
  screen.addEventListener("keydown", press);
  typing.addEventListener("keydown", press);
  typing.addEventListener("input", () => { if (typing.value) type(typing.value); typing.value = ""; });
  for (const one of [screen, typing]) one.addEventListener("paste", (event) => {
    const text = event.clipboardData?.getData("text/plain");
    if (held && text) { event.preventDefault(); flush(); act({ do: "paste", text }); }
  });

  // A phone that is driven here stays until it is handed back.
  window.addEventListener("console-phone", ({ detail }) => {
    beside = detail;
    if (!held) follow();
  });
  get("phone-open").addEventListener("click", () => open(true));
  get("phone-close").addEventListener("click", () => open(false));
  picker.addEventListener("change", () => { serial = picker.value; picture = null; paint.clearRect(0, 0, screen.width, screen.height); show(); });
  wheel.addEventListener("click", () => send(held ? { type: "hand_back", note: "" } : { type: "take" }));
  for (const one of driving.querySelectorAll("[data-button]")) one.addEventListener("click", () => { flush(); act({ do: "button", button: one.dataset.button }); });
  keyboard.addEventListener("click", () => typing.focus()); // A phone shows its own keyboard for it.
  const refit = () => socket?.readyState === WebSocket.OPEN && serial && show();
  new ResizeObserver(refit).observe(screen);
  window.addEventListener("resize", refit); // At another density the same place has other pixels.
  setInterval(tell, 1000);
})();
