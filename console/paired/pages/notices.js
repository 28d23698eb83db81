// The page as an installed app: kept for a start without a network, and told by pushes what waits.
import { bytesOf } from "./wire.js";

function base64url(buffer) {
  return btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

// Nothing of this works before the phone trusts the page's certificate; the queue works all the same.
export async function install() {
  if (!("serviceWorker" in navigator)) return null;
  try {
    return await navigator.serviceWorker.register("worker.js");
  } catch {
    return null;
  }
}

export async function canNotify(installed) {
  return Boolean(installed?.pushManager) && Notification.permission !== "denied" && !(await installed.pushManager.getSubscription());
}

// Returns the statement to sign, or null where the phone's owner does not want notices.
export async function subscription(installed, vapid) {
  if ((await Notification.requestPermission()) !== "granted") return null;
  const made = await installed.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytesOf(vapid) });
  return { do: "push", endpoint: made.endpoint, p256dh: base64url(made.getKey("p256dh")), auth: base64url(made.getKey("auth")) };
}
