import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { IpNetwork } from "effect/net"
import { SqlClient } from "effect/sql"
import { createHash } from "node:crypto"
import { runInNewContext } from "node:vm"
import { proofScript } from "../../../src/http/pages/ProofScript.ts"
import { isProof, makeChallenge, proofMillisMax } from "../../../src/services/identity/ProofOfWork.ts"
import { otherServer } from "../../support/RemotePosts.ts"
import * as TestBrowser from "../../support/TestBrowser.ts"
import { Postbox, server } from "../../support/WebServer.ts"
import { clientToken, signUp, wish } from "../v1/SignUpForm.ts"

/** Runs the page's own script to find the number, like a browser. */
const solved = (challenge: string): string => {
  const elements = { challenge: { value: challenge }, number: { value: "" } }
  const others: Record<string, object> = { captcha: { elements }, confirm: {}, working: {} }
  const waiting: Array<() => void> = []
  runInNewContext(proofScript.text, {
    document: { getElementById: (id: string) => others[id] },
    setTimeout: (work: () => void) => waiting.push(work)
  })
  for (let work = waiting.shift(); work !== undefined; work = waiting.shift()) work()
  return elements.number.value
}

describe("proof of work", () => {
  const options = { key: "k".repeat(32), subject: "somebody" }
  const challenge = makeChallenge(options, "chance", 12, 1_000)
  const number = solved(challenge)

  it("is found by the page's script, with the hash that the policy allows", () => {
    assert.isTrue(isProof(options, challenge, number, 1_000))
    assert.strictEqual(proofScript.hash, `sha256-${createHash("sha256").update(proofScript.text).digest("base64")}`)
    assert.match(createHash("sha256").update(`${challenge}:${number}`).digest("hex"), /^000/)
  })

  it("is valid for one subject, for an hour, with the right number and difficulty", () => {
    const last = 1_000 + proofMillisMax
    assert.isTrue(isProof(options, challenge, number, last - 1))
    assert.isFalse(isProof(options, challenge, number, last))
    assert.isFalse(isProof({ ...options, subject: "another" }, challenge, number, 1_000))
    assert.isFalse(isProof({ ...options, key: "x".repeat(32) }, challenge, number, 1_000))
    for (const other of ["", "-1", "1e5", String(Number(number) + 1), "9".repeat(16), "NaN"]) {
      assert.isFalse(isProof(options, challenge, other, 1_000), other)
    }
    const easier = challenge.replace(/^12\./, "0.")
    for (const given of [easier, "", ".", "...", "x".repeat(10_000), challenge.slice(0, -1), `${challenge}=`]) {
      assert.isFalse(isProof(options, given, number, 1_000), given.slice(0, 40))
    }
  })
})

/** Signs a user up, and opens the link of the e-mail. */
const opened = Effect.fnUntraced(function*(name: string) {
  assert.strictEqual((yield* signUp(yield* clientToken(), wish(name))).status, 200)
  const link = new URL(/https:\S+/.exec((yield* Postbox.next).text)?.[0] ?? "")
  const browser = TestBrowser.make()
  const page = yield* browser.get(link.pathname + link.search)
  return { browser, page, link }
})
const stateOf = Effect.fnUntraced(function*(name: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<
    { confirmed: boolean; approved: boolean }
  >`SELECT confirmed_at IS NOT NULL AS confirmed, approved
    FROM users u JOIN accounts a ON a.id = u.account_id WHERE a.username = ${name}`
  return row
})

layer(server({ captcha: { kind: "proof", bits: 8 } }), { excludeTestServices: true })("proof of work captcha", (it) => {
  it.effect("an address is confirmed once the browser has solved it, and not before", () =>
    Effect.gen(function*() {
      const { browser, link, page } = yield* opened("anna")
      assert.strictEqual(page.status, 200)
      assert.include(page.headers.get("content-security-policy"), `script-src '${proofScript.hash}'`)
      assert.deepInclude(yield* stateOf("anna"), { confirmed: false })
      const challenge = TestBrowser.formsOf(page)[0]?.fields["challenge"] ?? ""
      const wrong = yield* browser.submit(page, { number: "" })
      assert.strictEqual(wrong.status, 422)
      const other = yield* opened("berta")
      const stolen = yield* other.browser.submit(other.page, { challenge, number: solved(challenge) })
      assert.strictEqual(stolen.status, 422, "somebody else's proof")
      assert.deepInclude(yield* stateOf("berta"), { confirmed: false })
      const done = yield* browser.submit(page, { number: solved(challenge) })
      assert.strictEqual(TestBrowser.locationOf(done).href, "myapp://back")
      assert.deepStrictEqual(yield* stateOf("anna"), { confirmed: true, approved: true })
      // The link leads back to the app as before, without another captcha.
      const again = yield* browser.get(link.pathname + link.search)
      assert.strictEqual(TestBrowser.locationOf(again).href, "myapp://back")
    }))

  it.effect("a user who cannot solve it waits for a moderator", () =>
    Effect.gen(function*() {
      const { browser, page } = yield* opened("cleo")
      assert.include(page.text, "<noscript>")
      const waits = yield* browser.submit(page, { by_moderator: "1" })
      assert.strictEqual(waits.status, 200)
      assert.include(waits.text, "A moderator of")
      assert.deepStrictEqual(yield* stateOf("cleo"), { confirmed: true, approved: false })
    }))

  it.effect("it cannot be bypassed by a password reset link, nor by a form of another page", () =>
    Effect.gen(function*() {
      const { browser, link } = yield* opened("dora")
      const page = yield* browser.get("/auth/password/new")
      yield* browser.submit(page, { email: "dora@mail.example" })
      const body = new URLSearchParams({ confirmation_token: link.searchParams.get("confirmation_token") ?? "" })
      const forged = yield* browser.request("/auth/captcha_confirmation", {
        method: "POST",
        body,
        headers: { origin: "https://evil.example" }
      })
      assert.strictEqual(forged.status, 403)
      // The next e-mail is that of the next sign-up.
      yield* opened("ella")
      assert.deepInclude(yield* stateOf("dora"), { confirmed: false })
    }))
})

/** A captcha service that accepts one result, with the right keys. */
const byService = Layer.unwrap(Effect.gen(function*() {
  const { reply, baseUrl } = yield* otherServer
  const verifyUrl = reply("/siteverify", (request, response) => {
    let text = ""
    request.on("data", (part: Buffer) => text += part.toString())
    request.on("end", () => {
      const success = text === "secret=secret&sitekey=site&response=good"
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ success }))
    })
  })
  const captcha = { kind: "hcaptcha", siteKey: "site", secretKey: Redacted.make("secret"), verifyUrl } as const
  return server({
    captcha: { ...captcha, scriptUrl: `${baseUrl}/api.js` },
    outboundAllow: [IpNetwork.fromStringUnsafe("127.0.0.0/8")]
  })
}))

layer(byService, { excludeTestServices: true })("captcha by a service", (it) => {
  it.effect("is verified by the service", () =>
    Effect.gen(function*() {
      const { browser, page } = yield* opened("fritz")
      assert.include(page.text, `data-sitekey="site"`)
      assert.match(page.headers.get("content-security-policy") ?? "", /script-src http:\/\/127\.0\.0\.1:\d+/)
      for (const response of ["", "bad"]) {
        const refused = yield* browser.submit(page, { "h-captcha-response": response })
        assert.strictEqual(refused.status, 422, response)
      }
      yield* browser.submit(page, { "h-captcha-response": "good" })
      assert.deepInclude(yield* stateOf("fritz"), { confirmed: true })
    }))
})
