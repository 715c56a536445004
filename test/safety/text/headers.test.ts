import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { WebSocket } from "ws"
import { KeyOperations } from "../../../src/services/federation/signatures/KeyOperations.ts"
import * as MessageSignatures from "../../../src/services/federation/signatures/MessageSignatures.ts"
import { there } from "../../http/activitypub/InboxCalls.ts"
import { type RemotePerson, servers, signed } from "../../http/activitypub/Sending.ts"
import { ask, newPerson, publish } from "../../support/Api.ts"
import { picture, uploaded } from "../../support/MediaFiles.ts"
import { TestServer } from "../../support/Server.ts"
import { matches, sourcesIn } from "../../support/source.ts"
import { staffBrowser } from "../../support/StaffBrowser.ts"
import { formsOf } from "../../support/TestBrowser.ts"
import { call } from "../Calls.ts"
import { assertNoServerError, assertServed } from "../hostile/Pages.ts"
import { pauseIn } from "./Pauses.ts"
import { headerNames, ownValues, worstValues } from "./worstHeaders.ts"

/** Maximum time for which the event loop may be blocked, in CPU milliseconds. */
const pauseMillisMax = 50
/** Attempts per request; the shortest pause counts, because garbage collection adds time. */
const triesMax = 5
/** A route gets all values of a header's own syntax, and every `step`-th of the others; other routes get the rest. */
const step = 12

/** Headers of responses, and those of which Node parses a number. */
const others =
  /^(?:cache-control|content-encoding|content-length|etag|link|location|transfer-encoding|upgrade|vary|x-ratelimit-\w+|sec-websocket-key)$/

interface Route {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: RequestInit["body"]
}

/** Opens a WebSocket with these headers and closes it; succeeds also if the server refuses it. */
const opened = (url: string, headers: Readonly<Record<string, string>>) =>
  Effect.callback<void>((resume) => {
    const socket = new WebSocket(url, { headers, perMessageDeflate: false })
    const end = () => {
      socket.terminate()
      resume(Effect.void)
    }
    socket.once("open", end).on("error", end)
  })

const signedByRfc9421 = Effect.fnUntraced(function*(by: RemotePerson, body: Uint8Array, url: URL) {
  const keys = yield* KeyOperations
  const { base, headers } = MessageSignatures.toSign({
    method: "POST",
    url,
    keyId: by.keyId,
    now: Date.now(),
    headers: { "content-type": "application/activity+json" },
    body
  })
  return headers(yield* Effect.orDie(keys.sign(by.privatePem, base)))
})

/** Returns a multipart body with one part, which has these headers. */
const partsOf = (headers: Readonly<Record<string, string>>) => {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.from(`--x\r\n${lines.join("")}\r\na\r\n--x--\r\n`, "latin1")
}
/** Places of a text in the headers of a part. */
const places = [
  ["content-disposition: form-data; name=\"", "\""],
  ["content-disposition: form-data; name=", ""],
  ["content-disposition: form-data", ""],
  ["content-disposition: form-data; name=\"note\"; filename=\"", "\""],
  ["content-disposition: form-data; name=\"note\"; filename*=utf-8''", ""],
  ["content-type: ", ""],
  ["x-other: ", ""]
] as const
const multipart = { "content-type": "multipart/form-data; boundary=x" }

/** Measures requests; those that block the event loop for too long are collected in `slow`. */
const measured = () => {
  const slow: Array<string> = []
  let pairs = 0
  const timed = Effect.fnUntraced(function*<R>(about: string, request: Effect.Effect<unknown, never, R>) {
    pairs++
    let least = Infinity
    for (let tries = 0; tries < triesMax && least >= pauseMillisMax; tries++) {
      const [, pause] = yield* pauseIn(request)
      least = Math.min(least, pause)
    }
    if (least >= pauseMillisMax) slow.push(`${about}: ${Math.round(least)} ms`)
  })
  return { slow, timed, count: () => pairs }
}

layer(servers, { excludeTestServices: true })("F104: the worst texts in headers", (it) => {
  it("are known for every header that the server reads", () => {
    const read = sourcesIn("src")
      .filter(({ path }) => /^src\/(?:http|layers\/[A-Z]\w+\.ts|services\/federation)/.test(path))
      .flatMap(({ text }) => matches(text, /(?<=\bheaders\[")[a-z-]+(?="\])/g))
    const unknown = new Set(read.filter((name) => !others.test(name) && !headerNames.includes(name)))
    assert.isAbove(new Set(read).size, 20)
    assert.deepStrictEqual([...unknown], [])
  })

  it.effect(`block the event loop for ${pauseMillisMax} ms at most, on any route`, ({ annotate }) =>
    Effect.gen(function*() {
      const { baseUrl } = yield* TestServer
      const ada = yield* newPerson("ada")
      const eve = yield* there("eve")
      const { id } = yield* publish(ada, "hello #tag")
      const media = yield* uploaded(ada, yield* Effect.promise(() => picture().png().toBuffer()))
      const { body: app } = yield* ask(undefined, "POST", "/api/v1/apps", {
        client_name: "App",
        redirect_uris: "https://app.example/back"
      })
      const browser = yield* staffBrowser(ada)
      const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ")
      const token = { authorization: `Bearer ${ada.token}` }
      const form = "application/x-www-form-urlencoded"
      const activity = JSON.stringify({
        "@context": "https://www.w3.org/ns/activitystreams",
        id: `${eve.id}/follows/1`,
        type: "Follow",
        actor: eve.id,
        object: `${baseUrl}/users/ada`
      })
      const inbox = new URL(`${baseUrl}/inbox`)
      const delivery = yield* signed(eve, activity, inbox)
      const modern = yield* signedByRfc9421(eve, delivery.body, inbox)
      const settings = yield* browser.get("/settings/posting")
      const [settingsForm] = formsOf(settings)
      const routes: Readonly<Record<string, Route>> = {
        "a timeline": { method: "GET", path: "/api/v1/timelines/home", headers: token },
        "a new post": {
          method: "POST",
          path: "/api/v1/statuses",
          headers: { ...token, "content-type": "application/json" },
          body: "{\"status\":\"x\"}"
        },
        "a preflight": { method: "OPTIONS", path: "/api/v1/statuses", headers: { origin: "https://a.test" } },
        "a page of a visitor": { method: "GET", path: "/@ada", headers: { accept: "text/html" } },
        "a page of a member": { method: "GET", path: "/home", headers: { accept: "text/html", cookie } },
        "a form of a member": {
          method: "POST",
          path: String(settingsForm?.action),
          headers: { origin: baseUrl, cookie, "content-type": form },
          body: new URLSearchParams({ ...settingsForm?.fields, act: "save" }).toString()
        },
        "a missing page": { method: "GET", path: "/nothing/here", headers: { accept: "text/html" } },
        "an actor": { method: "GET", path: "/users/ada", headers: { accept: "application/activity+json" } },
        "a post": {
          method: "GET",
          path: `/users/ada/statuses/${id}`,
          headers: { accept: "application/activity+json" }
        },
        "a feed": { method: "GET", path: "/@ada.rss" },
        "host-meta": { method: "GET", path: "/.well-known/host-meta" },
        "health": { method: "GET", path: "/health" },
        "a file": { method: "GET", path: new URL(String(media.url)).pathname, headers: { range: "bytes=0-9" } },
        "a form that may have files": {
          method: "PATCH",
          path: "/api/v1/accounts/update_credentials",
          headers: { ...token, ...multipart },
          body: partsOf({ "content-disposition": "form-data; name=\"note\"" })
        },
        "a token": {
          method: "POST",
          path: "/oauth/token",
          headers: { "content-type": form },
          body: new URLSearchParams({
            ["client_id"]: String(app.client_id),
            ["client_secret"]: String(app.client_secret),
            ["grant_type"]: "client_credentials"
          }).toString()
        },
        "an inbox": { method: "POST", path: "/inbox", headers: delivery.headers, body: delivery.body },
        "an inbox, RFC 9421": { method: "POST", path: "/inbox", headers: modern, body: delivery.body }
      }
      const accepted: Record<string, number> = {}
      const { count, slow, timed } = measured()
      const sent = Effect.fnUntraced(function*(name: string, about: string, headers: Readonly<Record<string, string>>) {
        const { method, path, body } = routes[name]!
        const reply = yield* call(method, path, undefined, undefined, {
          headers: { ...routes[name]?.headers, ...headers },
          redirect: "manual",
          ...(body !== undefined && { body })
        })
        assertNoServerError(reply, `${name}, ${about}`)
        assert.notStrictEqual(reply.status, 431, `${name}, ${about}`)
        accepted[name] = (accepted[name] ?? 0) + (reply.status < 400 ? 1 : 0)
      })
      for (const [place, header] of headerNames.entries()) {
        for (const [at, name] of [...Object.keys(routes), "a stream"].entries()) {
          const own = ownValues(header)
          for (const [index, [kind, value]] of worstValues(header).entries()) {
            if (index >= own && (index + at + place) % step > 0) continue
            const about = `${header}: ${kind}`
            yield* timed(
              `${name}, ${about}`,
              name === "a stream"
                ? opened(`${baseUrl.replace("http", "ws")}/api/v1/streaming`, { ...token, [header]: value })
                : sent(name, about, { [header]: value })
            )
          }
        }
      }
      annotate(`${count()} requests with a worst header, of which accepted: ${JSON.stringify(accepted)}`)
      assert.deepStrictEqual(slow, [])
      for (const name of Object.keys(routes)) {
        if (name !== "a missing page") assert.isAbove(accepted[name] ?? 0, 100, name)
      }
      yield* assertServed(ada, "all of them")
    }))

  it.effect(`block the event loop for ${pauseMillisMax} ms at most, in a part of a form`, ({ annotate }) =>
    Effect.gen(function*() {
      const eve = yield* newPerson("eve")
      const { count, slow, timed } = measured()
      const statuses: Record<number, number> = {}
      const routes = [["PATCH", "/api/v1/accounts/update_credentials"], ["POST", "/api/v1/statuses"]] as const
      for (const [start, end] of places) {
        for (const [kind, value] of worstValues("content-disposition")) {
          const [name = "", given = ""] = `${start}${value}${end}`.split(": ")
          for (const [method, path] of routes) {
            const about = `${path} ${start} ${kind}`
            yield* timed(
              about,
              Effect.tap(
                call(method, path, eve, undefined, { headers: multipart, body: partsOf({ [name]: given }) }),
                (reply) => {
                  assertNoServerError(reply, about)
                  statuses[reply.status] = (statuses[reply.status] ?? 0) + 1
                  return Effect.void
                }
              )
            )
          }
        }
      }
      annotate(`${count()} requests with a worst part, by status: ${JSON.stringify(statuses)}`)
      assert.deepStrictEqual(slow, [])
      assert.isAbove(statuses[200] ?? 0, 100)
      yield* assertServed(eve, "all of them")
    }))
})
