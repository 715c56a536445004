import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import * as Scopes from "../../src/services/oauth/Scopes.ts"
import { allowedMillis } from "../support/MachineSpeed.ts"
import { eventuallyResponds, propagationMillisMax } from "./EventualResponse.ts"
import { makeAccounts, type Node, request } from "./Nodes.ts"
import { listen } from "./Streams.ts"
import { TwoNodes } from "./TwoNodes.ts"

/** Maximum delay of domain rules, in milliseconds: the Agenda applies them to accounts every second. */
const appliedMillisMax = 2_500

const blockedAddress = "203.0.113.7"
const otherAddress = "198.51.100.9"

const field = (body: unknown, name: string): string => String(Reflect.get(Object(body), name))

/** Checks networks, domains, names and e-mail domains that staff block on one node. */
export const blocks = Effect.scoped(Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const [a, b] = yield* TwoNodes
  const [owner] = yield* makeAccounts(a.variables, ["otto"], Scopes.all)
  const [reader] = yield* makeAccounts(a.variables, ["rita"])
  if (!owner || !reader) return yield* Effect.die("accounts were not made")
  yield* sql`UPDATE users SET role_id = 3 WHERE account_id = ${owner.id}`
  const act = (node: Node, path: string, form: Record<string, string>) =>
    Effect.tap(
      request(node, owner, `/api/v1/admin/${path}`, { method: "POST", form }),
      ({ body, status }) => Effect.sync(() => assert.strictEqual(status, 200, JSON.stringify(body)))
    )
  const lift = (node: Node, path: string, block: { readonly body: unknown }) =>
    Effect.tap(
      request(node, owner, `/api/v1/admin/${path}/${field(block.body, "id")}`, { method: "DELETE" }),
      ({ status }) => Effect.sync(() => assert.strictEqual(status, 200))
    )

  // A network block refuses requests and ends streams on both nodes.
  const own = (node: Node, address: string) => request(node, reader, "/api/v1/accounts/verify_credentials", { address })
  for (const node of [a, b]) {
    for (const address of [blockedAddress, otherAddress]) {
      assert.strictEqual((yield* own(node, address)).status, 200)
    }
  }
  const streams = [yield* listen(a, reader, blockedAddress), yield* listen(b, reader, blockedAddress)]
  const unaffected = yield* listen(b, reader, otherAddress)
  const began = performance.now()
  const network = yield* act(a, "ip_blocks", { ip: "203.0.113.0/24", severity: "no_access" })
  for (const { closed } of streams) assert.isBelow((yield* closed) - began, allowedMillis(propagationMillisMax))
  for (const node of [a, b]) {
    yield* eventuallyResponds("the network block", own(node, blockedAddress), ({ status }) => status === 403)
    assert.strictEqual((yield* own(node, otherAddress)).status, 200)
  }
  assert.strictEqual(unaffected.socket.readyState, unaffected.socket.OPEN)
  yield* lift(b, "ip_blocks", network)
  for (const node of [a, b]) {
    yield* eventuallyResponds("the deleted network block", own(node, blockedAddress), ({ status }) => status === 200)
  }
  // A stream that is opened at the moment of the block is refused, or ends like the others.
  for (const [at, node] of [b, a, b, a, b, a].entries()) {
    const opening = Effect.delay(Effect.exit(listen(node, reader, blockedAddress)), at * 4)
    const [again, opened] = yield* Effect.all([
      act(a, "ip_blocks", { ip: "203.0.113.0/24", severity: "no_access" }),
      opening
    ], { concurrency: "unbounded" })
    if (opened._tag === "Success") {
      assert.isBelow(
        yield* Effect.map(opened.value.closed, (closedAt) => closedAt - performance.now()),
        propagationMillisMax
      )
    }
    yield* lift(a, "ip_blocks", again)
    yield* eventuallyResponds("the deleted network block", own(node, blockedAddress), ({ status }) => status === 200)
  }

  // A domain block hides its accounts on both nodes until it ends.
  yield* sql`INSERT INTO accounts (id, username, domain, uri, created_at, updated_at)
    VALUES (7, 'far', 'bad.example', 'https://bad.example/users/far', now(), now())`
  yield* sql`INSERT INTO account_stats (account_id) VALUES (7)`
  const profile = (node: Node) => request(node, reader, "/api/v1/accounts/7")
  for (const node of [a, b]) assert.strictEqual((yield* profile(node)).status, 200)
  const domain = yield* act(a, "domain_blocks", { domain: "bad.example", severity: "suspend" })
  for (const node of [b, a]) {
    yield* eventuallyResponds("the domain block", profile(node), ({ status }) => status === 410, appliedMillisMax)
  }
  yield* lift(b, "domain_blocks", domain)
  for (const node of [a, b]) {
    yield* eventuallyResponds(
      "the deleted domain block",
      profile(node),
      ({ status }) => status === 200,
      appliedMillisMax
    )
  }

  // Names and e-mail domains of sign-ups.
  const app = yield* request(a, { token: "" }, "/api/v1/apps", {
    method: "POST",
    form: { client_name: "App", redirect_uris: "app://back", scopes: "read write" }
  })
  const token = yield* request(a, { token: "" }, "/oauth/token", {
    method: "POST",
    form: {
      grant_type: "client_credentials",
      client_id: field(app.body, "client_id"),
      client_secret: field(app.body, "client_secret"),
      redirect_uri: "app://back",
      scope: "read write"
    }
  })
  const signUp = (node: Node, username: string, domain: string) =>
    request(node, { token: field(token.body, "access_token") }, "/api/v1/accounts", {
      method: "POST",
      form: {
        username,
        email: `${username}@${domain}`,
        password: "correct horse battery staple",
        agreement: "true",
        locale: "en"
      }
    })
  assert.strictEqual((yield* signUp(b, "early", "mail.example")).status, 200)
  yield* act(a, "username_blocks", { username: "bank", exact: "false" })
  assert.strictEqual((yield* signUp(b, "mybank", "mail.example")).status, 422)
  yield* act(a, "email_domain_blocks", { domain: "trash.example" })
  assert.strictEqual((yield* signUp(b, "somebody", "trash.example")).status, 422)
  assert.strictEqual((yield* signUp(b, "somebody", "mail.example")).status, 200)

  // A spam rule also applies on the node that had cached the rules, and also ends there.
  const write = (node: Node) =>
    request(node, reader, "/api/v1/statuses", { method: "POST", form: { status: "the lottery is yours" } })
  for (const node of [a, b]) assert.strictEqual((yield* write(node)).status, 200)
  const rule = yield* act(a, "spam_rules", {
    name: "lottery",
    state: "on",
    action: "drop",
    "conditions[text_words][]": "lottery"
  })
  for (const node of [b, a]) yield* eventuallyResponds("the spam rule", write(node), ({ status }) => status === 422)
  yield* lift(b, "spam_rules", rule)
  for (const node of [a, b]) {
    yield* eventuallyResponds("the deleted spam rule", write(node), ({ status }) => status === 200)
  }
}))
