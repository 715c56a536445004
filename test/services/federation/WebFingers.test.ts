import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { ServerResponse } from "node:http"
import { WebFingers } from "../../../src/services/federation/WebFingers.ts"
import { type Peer, peer, remote } from "./Peer.ts"

/** Makes a host-meta document with a template. */
const xrd = (template: string) =>
  `<?xml version="1.0" encoding="UTF-8"?>
<XRD xmlns="http://docs.oasis-open.org/ns/xri/xrd-1.0">
  <Link rel="other" template="https://elsewhere.test/{uri}"/>
  <Link rel="lrdd" type="application/jrd+json" template="${template}"/>
</XRD>`

/** Starts a server without WebFinger at the usual address; `meta` responds to host-meta. */
const older = Effect.fnUntraced(function*(meta: (response: ServerResponse, url: string) => void) {
  const there = yield* peer
  there.documents.set("/.well-known/host-meta", (_, response) => meta(response, there.url))
  const asked = (path: string) => there.requests.filter(({ url }) => url?.startsWith(path)).length
  return { ...there, asked }
})
const served = (template: string, type = "application/xrd+xml") => (response: ServerResponse, url: string) =>
  void response.writeHead(200, { "content-type": type }).end(xrd(template.replace("URL", url)))
const descriptor = (path: string, there: Pick<Peer, "documents" | "finger" | "url">, name: string) =>
  there.documents.set(path, (_, response) => {
    response.writeHead(200, { "content-type": "application/jrd+json" })
      .end(JSON.stringify(there.finger(name, `${there.url}/users/${name}`)))
  })

const resolve = (username: string, domain: string) => WebFingers.use(({ resolve }) => resolve(username, domain))

layer(remote, { excludeTestServices: true })("WebFinger", (it) => {
  it.effect("row 12: a handle that leads to another domain's is accepted only if both agree", () =>
    Effect.gen(function*() {
      const [web, local] = [yield* peer, yield* peer]
      const actor = `${web.url}/users/anna`
      const there = web.finger("anna", actor, `acct:anna@${local.domain}`)
      web.fingers.set(`acct:anna@${web.domain}`, there)
      assert.strictEqual((yield* Effect.flip(resolve("anna", web.domain)))._tag, "ErrorResponse")
      for (
        const reply of [
          local.finger("anna", `${local.url}/users/anna`),
          local.finger("ben", actor),
          local.finger("anna", actor, `acct:anna@${web.domain}`)
        ]
      ) {
        local.fingers.set(`acct:anna@${local.domain}`, reply)
        assert.strictEqual((yield* Effect.flip(resolve("anna", web.domain)))._tag, "Implausible")
      }
      local.fingers.set(`acct:anna@${local.domain}`, there)
      const found = yield* resolve("anna", web.domain)
      assert.deepStrictEqual([found.username, found.domain, found.actor.href], ["anna", local.domain, actor])
    }))

  it.effect("FEP-3b86: a visitor continues by the intents of a server without the relation of OStatus", () =>
    Effect.gen(function*() {
      const there = yield* peer
      const subject = `acct:zoe@${there.domain}`
      const link = (name: string, template: string) => ({ rel: `https://w3id.org/fep/3b86/${name}`, template })
      const [follow, object] = [
        link("Follow", `${there.url}/follow?id={object}&then={on-success}`),
        link("Object", `${there.url}/open?id={object}`)
      ]
      const subscribe = { rel: "http://ostatus.org/schema/1.0/subscribe", template: `${there.url}/ostatus?uri={uri}` }
      const to = (kind: "account" | "status", links: ReadonlyArray<unknown>) => {
        there.fingers.set(subject, { subject, links })
        const url = "https://local.example/@erika?a=1&b"
        return Effect.map(
          WebFingers.use(({ subscription }) => subscription("zoe", there.domain, { kind, url })),
          (found) => found?.slice(there.url.length)
        )
      }
      const id = "https%3A%2F%2Flocal.example%2F%40erika%3Fa%3D1%26b"
      assert.strictEqual(yield* to("account", [object, follow, subscribe]), `/ostatus?uri=${id}`)
      assert.strictEqual(yield* to("account", [object, follow]), `/follow?id=${id}&then=`)
      assert.strictEqual(yield* to("account", [object]), `/open?id=${id}`)
      assert.strictEqual(yield* to("status", [follow, object]), `/open?id=${id}`)
      assert.isUndefined(yield* to("status", [follow]))
      const wrong = [link("Object", "javascript:alert({object})"), link("Object", `${there.url}/nothing`), "text", {}]
      assert.isUndefined(yield* to("account", wrong))
    }))

  it.effect("F84: an actor is behind a link of the right type only", () =>
    Effect.gen(function*() {
      const there = yield* peer
      const profile = "https://www.w3.org/ns/activitystreams"
      const types: ReadonlyArray<readonly [unknown, boolean]> = [
        ["application/activity+json", true],
        [`application/ld+json; profile="${profile}"`, true],
        ["application/ld+json", false],
        ["application/json", false],
        ["text/html", false],
        [undefined, false]
      ]
      for (const [type, leads] of types) {
        const subject = `acct:zoe@${there.domain}`
        const href = `${there.url}/users/zoe`
        there.fingers.set(subject, { subject, links: [{ rel: "self", type, href }] })
        const found = yield* Effect.result(resolve("zoe", there.domain))
        assert.strictEqual(found._tag, leads ? "Success" : "Failure", String(type))
      }
    }))

  it.effect("F84: if WebFinger is not found, host-meta is used", () =>
    Effect.gen(function*() {
      const templates = ["URL/find/{uri}", "URL/find/{uri}&amp;x=1", "URL/find/{uri}#{uri}"]
      for (const [place, template] of templates.entries()) {
        const there = yield* older(served(template, ["application/xrd+xml", "application/xml", "text/xml"][place]))
        const resource = encodeURIComponent(`acct:zoe@${there.domain}`)
        descriptor(`/find/${resource}${place === 1 ? "&x=1" : ""}`, there, "zoe")
        assert.strictEqual((yield* resolve("zoe", there.domain)).actor.href, `${there.url}/users/zoe`, template)
        // An unknown name fails; its host is not asked for the template again.
        assert.strictEqual((yield* Effect.flip(resolve("nobody", there.domain)))._tag, "ErrorResponse")
        assert.strictEqual(there.asked("/.well-known/host-meta"), 1)
      }
    }))

  it.effect("row 52: entities that a host-meta document declares are not expanded", () =>
    Effect.gen(function*() {
      const there = yield* older((response, url) =>
        void response.writeHead(200, { "content-type": "application/xrd+xml" }).end(
          `<?xml version="1.0"?><!DOCTYPE XRD [<!ENTITY a "${url}/find/"><!ENTITY b SYSTEM "${url}/secret">
            ${Array.from({ length: 20 }, (_, at) => `<!ENTITY c${at + 1} "${`&c${at};`.repeat(10)}">`).join("")}]>
          <XRD>&b;&c20;<Link rel="lrdd" template="&a;{uri}"/></XRD>`
        )
      )
      descriptor(`/find/${encodeURIComponent(`acct:zoe@${there.domain}`)}`, there, "zoe")
      yield* Effect.flip(resolve("zoe", there.domain))
      assert.deepStrictEqual(["/.well-known/host-meta", "/find", "/secret"].map(there.asked), [1, 0, 0])
    }))

  it.effect("F84: host-meta is requested only after a 404, at intervals, and its template leads to no private address", () =>
    Effect.gen(function*() {
      const refusals: ReadonlyArray<readonly [string, (response: ServerResponse, url: string) => void]> = [
        ["404", (response) => void response.writeHead(404).end()],
        ["another type", served("URL/find?resource={uri}", "text/html")],
        ["no placeholder", served("URL/find?resource=zoe")],
        ["another scheme", served("file:///etc/{uri}")],
        ["a private address", served("https://10.0.0.1/{uri}")],
        ["our own port", served("http://[::1]:22/{uri}")],
        [
          "too large",
          (response) =>
            void response.writeHead(200, { "content-type": "text/xml" }).end(
              " ".repeat(70_000) + xrd("https://x/{uri}")
            )
        ],
        ["too long", served(`URL/${"x".repeat(2_000)}{uri}`)],
        ["no XML", (response) => void response.writeHead(200, { "content-type": "text/xml" }).end("<<<>>>\0")]
      ]
      for (const [what, meta] of refusals) {
        const there = yield* older(meta)
        descriptor("/find", there, "zoe")
        for (let n = 0; n < 3; n++) yield* Effect.flip(resolve("zoe", there.domain))
        assert.strictEqual(there.asked("/.well-known/host-meta"), 1, what)
        assert.strictEqual(there.asked("/find"), 0, what)
      }
      // A temporary failure is not remembered.
      const busy = yield* older((response) => void response.writeHead(503).end())
      for (let n = 0; n < 2; n++) {
        assert.deepInclude(yield* Effect.flip(resolve("zoe", busy.domain)), { _tag: "ErrorResponse", status: 503 })
      }
      for (const status of [400, 401, 403, 410, 500]) {
        const there = yield* older(served("URL/find?resource={uri}"))
        there.fingers.set(`acct:zoe@${there.domain}`, (_, response) => response.writeHead(status).end())
        assert.deepInclude(yield* Effect.flip(resolve("zoe", there.domain)), { _tag: "ErrorResponse", status })
        assert.strictEqual(there.asked("/.well-known/host-meta"), 0)
      }
    }))
})
