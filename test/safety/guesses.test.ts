import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { limits } from "../../src/http/guard/Limits.ts"
import { allScopes, type RequestOptions, TestServer } from "../support/Server.ts"
import { formsOf } from "../support/TestBrowser.ts"
import { call, type Reply } from "./Calls.ts"

/** Source address and account of an attempt; the server trusts this machine as a proxy. */
interface From {
  readonly address: string
  readonly email: string
}

type Attempt = (from: From) => Effect.Effect<Reply, unknown, TestServer>

const withAddress = (address: string, headers: Record<string, string> = {}): RequestOptions => ({
  headers: { "x-forwarded-for": address, ...headers },
  redirect: "manual"
})

/** Submits a form like a browser that has just opened the page. */
const form = (page: string, fields: (from: From) => Record<string, string>): Attempt => (from) =>
  Effect.gen(function*() {
    const { baseUrl } = yield* TestServer
    const opened = yield* call("GET", page, undefined, undefined, withAddress(from.address))
    const cookie = opened.headers.getSetCookie().map((set) => set.split(";")[0]).join("; ")
    const { action, fields: hidden } = formsOf(opened)[0] ?? { action: page, fields: {} }
    return yield* call("POST", action, undefined, undefined, {
      ...withAddress(from.address, { cookie, origin: baseUrl }),
      body: new URLSearchParams({ ...hidden, ...fields(from) })
    })
  })

const oob = "urn:ietf:wg:oauth:2.0:oob"
const registration = { client_name: "App", redirect_uris: oob, scopes: allScopes.join(" ") }

const register = (address: string, path = "/api/v1/apps") =>
  call("POST", path, undefined, registration, withAddress(address))

/** Issues the token of an app without a user. */
const appToken = Effect.fnUntraced(function*(address: string) {
  const { body } = yield* register(address)
  const { client_id, client_secret } = body
  const grant = { grant_type: "client_credentials", client_id, client_secret, scope: registration.scopes }
  return (yield* call("POST", "/oauth/token", undefined, grant, withAddress(address))).body.access_token
})

const guess = (path: string): Attempt => ({ address }) =>
  call("POST", path, undefined, {
    grant_type: "authorization_code",
    client_id: "a",
    client_secret: "b",
    code: "c",
    token: "d",
    redirect_uri: oob
  }, withAddress(address))

const openPage = (path: string): Attempt => ({ address }) =>
  call("GET", path, undefined, undefined, withAddress(address))

/** Every way to guess a secret or to cause e-mails, with its limit and the key of the limit. */
const actions: ReadonlyArray<readonly [name: string, by: "address" | "email", limit: keyof typeof limits, Attempt]> = [
  ["a sign-in", "address", "signInAddress", form("/auth/sign_in", ({ email }) => ({ email, password: "guessed it" }))],
  ["a sign-in", "email", "signInEmail", form("/auth/sign_in", ({ email }) => ({ email, password: "guessed it" }))],
  ["requesting a password reset", "address", "mailAddress", form("/auth/password/new", ({ email }) => ({ email }))],
  ["requesting a password reset", "email", "mailEmail", form("/auth/password/new", ({ email }) => ({ email }))],
  [
    "requesting a confirmation",
    "address",
    "confirmationAddress",
    form("/auth/confirmation/new", ({ email }) => ({ email }))
  ],
  ["requesting a confirmation", "email", "mailEmail", form("/auth/confirmation/new", ({ email }) => ({ email }))],
  ["registering an app", "address", "apps", ({ address }) => register(address)],
  ["exchanging a code", "address", "apiAddress", guess("/oauth/token")],
  ["revoking a token", "address", "apiAddress", guess("/oauth/revoke")],
  ["introspecting a token", "address", "apiAddress", guess("/oauth/introspect")],
  ["opening the consent page (F18)", "address", "pageAddress", openPage("/oauth/authorize")],
  ["opening a missing page (F18)", "address", "pageAddress", openPage("/nothing")]
]

let last = 0
/** Returns an address and an e-mail address without earlier attempts. */
const fresh = (): From => ({
  address: `198.51.${Math.floor(++last / 250)}.${last % 250}`,
  email: `guess${last}@example.org`
})

/** Counts the attempts that are accepted before the first refusal by a rate limit. */
const attemptsUntilRefused = Effect.fnUntraced(function*(attempt: Attempt, by: "address" | "email", uses: number) {
  const key = fresh()
  for (let count = 0; count <= 2 * uses; count++) {
    const other = fresh()
    const response = yield* attempt(
      by === "address" ? { ...other, address: key.address } : { ...other, email: key.email }
    )
    assert.isBelow(response.status, 500, response.text)
    if (response.status !== 429) continue
    assert.strictEqual(response.headers.get("x-ratelimit-remaining"), "0")
    assert.strictEqual(response.headers.get("x-ratelimit-limit"), String(uses))
    assert.isAbove(Date.parse(response.headers.get("x-ratelimit-reset") ?? ""), Date.now() - 1000)
    const unaffected = yield* attempt(fresh())
    assert.notStrictEqual(unaffected.status, 429, "other keys are unaffected")
    return count
  }
  return Number.POSITIVE_INFINITY
})

layer(TestServer.layer({ RATE_LIMITS: "on", REGISTRATIONS: "open" }), { excludeTestServices: true })(
  "rows 74, 75",
  (it) => {
    for (const [name, by, limit, attempt] of actions) {
      const { uses } = limits[limit]
      it.effect(
        `row 75: ${name} works ${uses} times in a period by ${by}, and not once more`,
        () =>
          Effect.gen(function*() {
            const first = yield* attemptsUntilRefused(attempt, by, uses)
            // If a new period began during the first attempts, the second ones are all in it.
            assert.strictEqual(first === uses ? first : yield* attemptsUntilRefused(attempt, by, uses), uses)
          })
      )
    }

    it.effect("row 75: five sign-ups per address, through any app", () =>
      Effect.gen(function*() {
        const { uses } = limits.signUp
        const signUp: Attempt = Effect.fnUntraced(function*({ address, email }) {
          const { address: elsewhere } = fresh()
          const token = yield* appToken(elsewhere)
          const registrationForm = {
            username: email.split("@")[0],
            email,
            password: "a good password",
            agreement: true,
            locale: "en"
          }
          return yield* call("POST", "/api/v1/accounts", { token }, registrationForm, withAddress(address))
        })
        const first = yield* attemptsUntilRefused(signUp, "address", uses)
        assert.strictEqual(first === uses ? first : yield* attemptsUntilRefused(signUp, "address", uses), uses)
      }))

    it.effect("row 74: the addresses of an IPv6 network share one limit, and so do all ways to write a path", () =>
      Effect.gen(function*() {
        const { uses } = limits.apps
        const paths = ["/api/v1/apps", "/api/v1/apps.json", "//api//v1///apps", "/api/v1/apps/", "/api/v1/apps?x=.json"]
        const round = Effect.fnUntraced(function*(network: string) {
          for (let count = 0; count <= 2 * uses; count++) {
            const { status } = yield* register(`${network}:${count + 1}::${count * 7 + 1}`, paths[count % paths.length])
            if (status === 429) {
              return count
            }
            assert.strictEqual(status, 200)
          }
          return Number.POSITIVE_INFINITY
        })
        const first = yield* round("2001:db8:1:2")
        assert.strictEqual(first === uses ? first : yield* round("2001:db8:1:3"), uses)
        assert.strictEqual((yield* register("2001:db8:1:4::1")).status, 200)
        for (const path of ["/API/v1/apps", "/api/v1/Apps", "/api/v1/apps;x", "/api/v1/apps%2f", "/api/v1/%61pps"]) {
          assert.oneOf((yield* register("2001:db8:1:2::1", path)).status, [404, 429], path)
        }
      }))

    it.effect("row 74: a client's own X-Forwarded-For is ignored", () =>
      Effect.gen(function*() {
        const { uses } = limits.apps
        const { address } = fresh()
        const statuses: Array<number> = []
        for (let count = 0; count <= 2 * uses; count++) {
          // The proxy adds the last address; all before it came with the request.
          statuses.push((yield* register(`203.0.113.${count}, 10.0.0.1, ${address}`)).status)
        }
        assert.strictEqual(statuses[0], 200)
        assert.strictEqual(statuses.at(-1), 429)
      }))
  }
)
