import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { createContext, runInContext } from "node:vm"
import { TestServer } from "../../support/Server.ts"

const origin = "https://local.example"
const hashed = "/assets/web/acts.0123456789ab.js"

interface Asked {
  readonly url: string
  readonly method: string
  readonly mode: string
}
interface FetchEvent {
  readonly request: Asked
  readonly respondWith: (response: Promise<Response>) => void
  readonly waitUntil: (work: Promise<unknown>) => void
}

/** A redirect as a browser passes it to the worker during a navigation. */
const redirected = Object.defineProperty(new Response(""), "type", { value: "opaqueredirect" })

/** Runs the server's service worker in a browser whose storage and network the test controls. */
const startWorker = Effect.gen(function*() {
  const { baseUrl } = yield* TestServer
  const text = yield* Effect.promise(async () => (await fetch(`${baseUrl}/sw.js`)).text())
  const stored = new Map<string, Map<string, Response>>()
  const listeners = new Map<string, (event: FetchEvent) => void>()
  const state = {
    isFull: false,
    network: (path: string): Promise<Response> => Promise.resolve(new Response(`from the network: ${path}`))
  }
  const keyOf = (request: Asked | string) => typeof request === "string" ? request : new URL(request.url).pathname
  const open = (name: string) => {
    const entries = stored.get(name) ?? new Map<string, Response>()
    stored.set(name, entries)
    return Promise.resolve({
      match: (request: Asked | string) => Promise.resolve(entries.get(keyOf(request))?.clone()),
      put: (request: Asked | string, response: Response) =>
        state.isFull
          ? Promise.reject(new Error("QuotaExceededError"))
          : Promise.resolve(void entries.set(keyOf(request), response)),
      keys: () => Promise.resolve([...entries.keys()]),
      delete: (request: Asked | string) => Promise.resolve(entries.delete(keyOf(request)))
    })
  }
  const caches = {
    open,
    delete: (name: string) => Promise.resolve(stored.delete(name)),
    match: (request: Asked | string, { cacheName }: { readonly cacheName: string }) =>
      Promise.resolve(stored.get(cacheName)?.get(keyOf(request))?.clone())
  }
  const context = createContext({
    self: {
      addEventListener: (name: string, listener: (event: FetchEvent) => void) => void listeners.set(name, listener)
    },
    caches,
    fetch: (request: Asked) => state.network(keyOf(request)),
    location: { origin },
    Response,
    URL
  })
  runInContext(text, context)
  /** Sends a request through the worker; returns the text, or undefined if the worker leaves it to the browser. */
  const through = async (path: string, { method = "GET", mode = "navigate" } = {}) => {
    const work: Array<Promise<unknown>> = []
    let response: Promise<Response> | undefined
    listeners.get("fetch")?.({
      request: { url: `${origin}${path}`, method, mode },
      respondWith: (given) => void (response = given),
      waitUntil: (given) => void work.push(given)
    })
    const responded = await response
    await Promise.all(work)
    return responded?.text()
  }
  return { through, state, stored }
})
const fails = () => Promise.reject(new TypeError("Failed to fetch"))

layer(TestServer.layer(), { excludeTestServices: true })("the service worker", (it) => {
  it.effect("F267: shows pages and files even if nothing can be stored", () =>
    Effect.gen(function*() {
      const { through, state } = yield* startWorker
      state.isFull = true
      yield* Effect.promise(async () => {
        assert.strictEqual(await through("/home"), "from the network: /home")
        assert.strictEqual(await through(hashed, { mode: "no-cors" }), `from the network: ${hashed}`)
      })
    }))

  it.effect("F267: stores only files with a hash in their names", () =>
    Effect.gen(function*() {
      const { through, state } = yield* startWorker
      yield* Effect.promise(async () => {
        await through(hashed, { mode: "no-cors" })
        state.network = fails
        assert.strictEqual(await through(hashed, { mode: "no-cors" }), `from the network: ${hashed}`)
        assert.isUndefined(await through("/assets/web/passkeys.js", { mode: "no-cors" }))
      })
    }))

  it.effect("F267: keeps Home until a sign-out, a redirect or the sign-in page, whatever is in flight", () =>
    Effect.gen(function*() {
      const { through, state, stored } = yield* startWorker
      const { network } = state
      const ends = [
        () => through("/auth/sign_out", { method: "POST" }),
        () => through("/auth/sign_in"),
        async () => {
          state.network = () => Promise.resolve(redirected)
          await through("/home")
        }
      ]
      yield* Effect.promise(async () => {
        for (const end of ends) {
          state.network = network
          await through("/home")
          await through("/home?max_id=1")
          state.network = fails
          assert.strictEqual(await through("/notifications"), "from the network: /home")
          state.network = network
          await end()
          assert.isFalse(stored.get("home")?.has("/home") ?? false)
        }
        // A Home that arrives after the sign-out.
        const arrives = Promise.withResolvers<Response>()
        state.network = () => arrives.promise
        const late = through("/home")
        await through("/auth/sign_out", { method: "POST" })
        arrives.resolve(new Response("private"))
        assert.strictEqual(await late, "private")
        assert.isFalse(stored.get("home")?.has("/home") ?? false)
        state.network = fails
        assert.isTrue(await through("/home").then(() => false, () => true))
      })
    }))
})
