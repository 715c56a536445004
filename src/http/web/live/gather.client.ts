/** Time that a change waits for others, in milliseconds. */
const gatherMillis = 300

/**
 * Returns a function that runs `load` soon. Calls in a row share one run, and runs never overlap: calls during one cause one
 * more after it, however many they are.
 */
export const gathered = (load: () => Promise<void>): () => void => {
  let state: "idle" | "waits" | "runs" | "runs again" = "idle"
  const start = (): void => {
    state = "waits"
    setTimeout(run, gatherMillis)
  }
  const end = (): void => {
    const isAgain = state === "runs again"
    state = "idle"
    if (isAgain) start()
  }
  const run = (): void => {
    state = "runs"
    load().then(end, end)
  }
  return () => {
    if (state === "idle") start()
    else if (state === "runs") state = "runs again"
  }
}
