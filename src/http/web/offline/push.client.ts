/* Turns push notifications of this browser on and off. */

const form = document.querySelector<HTMLFormElement>("form.push")
const key = form?.dataset["key"] ?? ""

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"))
  return Uint8Array.from(binary, (character) => character.charCodeAt(0))
}

const textOf = (bytes: ArrayBuffer | null): string =>
  btoa(String.fromCharCode(...new Uint8Array(bytes ?? new ArrayBuffer())))
    .replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")

const set = (name: string, value: string): void => {
  const field = form?.elements.namedItem(name)
  if (field instanceof HTMLInputElement) field.value = value
}

/** Asks the browser for its address at a push service, and sends it with the form. */
const subscribe = async (button: HTMLButtonElement): Promise<void> => {
  const { pushManager } = await navigator.serviceWorker.ready
  const subscription = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: bytesOf(key) })
  set("endpoint", subscription.endpoint)
  set("p256dh", textOf(subscription.getKey("p256dh")))
  set("auth", textOf(subscription.getKey("auth")))
  form?.append(Object.assign(document.createElement("input"), { type: "hidden", name: "act", value: button.value }))
  form?.submit()
}

const unsubscribe = async (): Promise<void> => {
  const { pushManager } = await navigator.serviceWorker.ready
  await (await pushManager.getSubscription())?.unsubscribe()
}

const isPossible = "serviceWorker" in navigator && "PushManager" in window && key !== ""
form?.classList.toggle("impossible", !isPossible)
form?.addEventListener("submit", (event) => {
  const { submitter } = event
  if (!(submitter instanceof HTMLButtonElement)) return
  if (submitter.value === "off") return void unsubscribe().catch(() => undefined)
  event.preventDefault()
  // The person may have said no, or the browser has no push service.
  subscribe(submitter).catch(() => form.classList.add("refused"))
})
