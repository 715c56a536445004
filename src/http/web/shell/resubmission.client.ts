/* Ignores a second press of a button while the first is on its way: on a slow line it would act twice. */

/** Time after which a button may be pressed again although no page has come, in milliseconds. */
const pauseMillis = 5_000

let pressed: { readonly form: EventTarget | null; readonly button: HTMLElement | null; readonly at: number } | undefined

// The last listener of the event: scripts that send a form themselves have prevented it by then.
addEventListener("submit", (event) => {
  if (event.defaultPrevented) return
  const { submitter: button, target: form, timeStamp: at } = event
  if (pressed?.form === form && pressed.button === button && at - pressed.at < pauseMillis) {
    event.preventDefault()
    return
  }
  pressed = { form, button, at }
})

// A page of the browser's history is shown as it was left.
addEventListener("pageshow", () => {
  pressed = undefined
})
