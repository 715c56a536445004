import type { Page } from "playwright-core"

/** Milliseconds after which a step with a service worker is tried again. */
const stepMillis = 20_000
/** Maximum number of tries of a step. */
const triesMax = 10

/**
 * Tries a step again if Chromium loses it: on a busy machine it drops a registration, or a message to a worker that is
 * just starting, without an error. Fails with the name of the step after the last try.
 */
export const tried = async <A>(name: string, step: () => Promise<A>): Promise<A> => {
  for (let turn = 0; turn < triesMax; turn++) {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<{ readonly ended: false }>((resolve) => {
      timer = setTimeout(() => resolve({ ended: false }), stepMillis)
    })
    try {
      const outcome = await Promise.race([step().then((value) => ({ ended: true, value }) as const), late])
      if (outcome.ended) return outcome.value
    } finally {
      clearTimeout(timer)
    }
  }
  throw new Error(`${name}: ${triesMax} tries did not end`)
}

/** Waits until the page's service worker is active. A page registers it once, so one whose registration failed is reloaded. */
export const workerReady = (page: Page) => {
  let turns = 0
  return tried("the service worker is active", async () => {
    if (turns++ > 0) await page.reload()
    await page.evaluate("navigator.serviceWorker.ready.then(() => true)")
  })
}
