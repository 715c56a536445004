import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { connect, type Socket } from "node:net"
import { bounds } from "../../../src/http/activitypub/Admission.ts"
import { waitingMax, waitingPerDomainMax } from "../../../src/services/federation/inbox/Congestion.ts"
import { waitingPerSenderMax } from "../../../src/services/federation/inbox/Recording.ts"
import { peer } from "../../services/federation/Peer.ts"
import { newPerson } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import { allowedMillis } from "../../support/MachineSpeed.ts"
import { TestServer } from "../../support/Server.ts"
import { actorOf, there } from "./InboxCalls.ts"
import { deliverFrom, OtherServer, type RemotePerson, serversWith, signed } from "./Sending.ts"

/** Sends an activity from an address; returns the status and Retry-After. */
const from = Effect.fnUntraced(function*(address: string, by: RemotePerson, id: string) {
  const { baseUrl, fetch } = yield* TestServer
  const activity = { "@context": "https://www.w3.org/ns/activitystreams", id, type: "Like", actor: by.id, object: "x" }
  const { body, headers } = yield* signed(by, JSON.stringify(activity), new URL(`${baseUrl}/inbox`))
  const reply = yield* fetch("/inbox", { method: "POST", headers: { ...headers, "x-forwarded-for": address }, body })
  return { status: reply.status, retryAfter: reply.headers.get("retry-after") }
})

/** Inserts pending activities of an account, due in a day. */
const backlog = Effect.fnUntraced(function*(accountId: bigint, count: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO inbound_activities (id, account_id, uri, document, received_at, due_at, tries)
    SELECT next_id(1), ${accountId}, 'waits:' || n, '{}', '2026-01-01', '2100-01-01', 1 FROM generate_series(1, ${count}::int) n
    ON CONFLICT DO NOTHING`
})
const known = Effect.fnUntraced(function*(by: RemotePerson) {
  const sql = yield* SqlClient.SqlClient
  yield* deliverFrom(by, { type: "Like", object: "x" })
  const [row] = yield* sql<{ id: bigint }>`SELECT id FROM accounts WHERE uri = ${by.id}`
  return row?.id ?? 0n
})
const perAddress = bounds.activities.perAddressMax

layer(serversWith({ RESPONSE_SECONDS_MAX: "5" }), { excludeTestServices: true })(
  "admission of inbound activities",
  (it) => {
    it.effect("F16: 300 senders that send only request headers do not close the inbox to others", () =>
      Effect.gen(function*() {
        const { baseUrl } = yield* TestServer
        const good = yield* there("idler")
        yield* known(good)
        const { hostname, port } = new URL(baseUrl)
        const sockets: Array<Socket> = []
        yield* Effect.addFinalizer(() => Effect.sync(() => sockets.forEach((socket) => socket.destroy())))
        const head = (n: number) =>
          `POST /inbox HTTP/1.1\r\nhost: x\r\nx-forwarded-for: 198.51.100.${n % 250}\r\ncontent-length: 1000\r\n\r\n{`
        yield* Effect.forEach(
          Array.from({ length: 300 }),
          (_, n) =>
            Effect.callback<void>((resume) => {
              const socket = connect(Number(port), hostname)
              sockets.push(socket)
              socket.on("error", () => undefined)
              socket.write(head(n), () => resume(Effect.void))
            }),
          { concurrency: "unbounded" }
        )
        // Sent on one connection after the others, so they are processed last.
        for (let n = 0; n < 20; n++) {
          assert.deepStrictEqual(yield* from("203.0.113.40", good, `${good.id}/idle/${n}`), {
            status: 202,
            retryAfter: null
          })
        }
      }).pipe(Effect.scoped))

    it.effect("row 40, F14: a flood from one address gets 503, and known senders are admitted", () =>
      Effect.gen(function*() {
        const { documents, url } = yield* OtherServer
        const [good, flood] = [yield* there("good"), yield* there("flood")]
        yield* known(good)
        // Each needs its own key, from a slow host.
        const responses: Array<() => void> = []
        // Pending requests complete when the host has a free slot; otherwise its accounts would be backed off for a
        // while.
        let released = false
        let refused = 0
        for (let n = 0; n < perAddress + 20; n++) {
          documents.set(`/users/slow${n}`, (_, response) => {
            const reply = () => response.writeHead(404).end()
            if (released) reply()
            else responses.push(reply)
          })
        }
        const sent = yield* Effect.forkChild(Effect.all(
          Array.from({ length: perAddress + 20 }, (_, n) => {
            const by = { ...flood, id: `${url}/users/slow${n}`, keyId: `${url}/users/slow${n}#main-key` }
            return Effect.tap(from("203.0.113.7", by, `${by.id}/1`), ({ retryAfter }) =>
              Effect.sync(() => {
                if (retryAfter === "10") refused++
              }))
          }),
          { concurrency: "unbounded" }
        ))
        // The address has all requests that it may have when the first one more is refused.
        yield* eventually(Effect.sync(() => refused > 0 && responses.length >= 8), (isFull) => isFull)
        const began = performance.now()
        const stranger = yield* there("stranger")
        assert.deepStrictEqual(yield* from("203.0.113.7", stranger, `${stranger.id}/a`), {
          status: 503,
          retryAfter: "10"
        })
        for (const address of ["203.0.113.7", "203.0.113.8"]) {
          assert.strictEqual((yield* from(address, good, `${good.id}/${address}`)).status, 202)
        }
        assert.isBelow(performance.now() - began, allowedMillis(2_000))
        const found = yield* Fiber.join(sent)
        assert.strictEqual(found.filter(({ status }) => status === 503).length, found.length)
        assert.isTrue(found.every(({ retryAfter }) => Number(retryAfter) > 0))
        released = true
        for (const reply of responses) reply()
        assert.strictEqual((yield* from("203.0.113.7", good, `${good.id}/b`)).status, 202)
      }))

    it.effect("F16: slow key hosts, requested from many addresses, do not close the inbox to known senders", () =>
      Effect.gen(function*() {
        const good = yield* there("wellknown")
        yield* known(good)
        let waiting: Array<() => void> | undefined = []
        const slow = yield* Effect.all(Array.from({ length: 6 }, () => peer))
        const crowd = yield* Effect.forEach(slow, ({ actor }) => actor("crowd"))
        const keys = slow.flatMap(({ documents, url }, host) =>
          Array.from({ length: 50 }, (_, n) => {
            documents.set(`/users/late${n}`, (_, response) => {
              const reply = () => response.writeHead(404).end()
              if (waiting === undefined) reply()
              else waiting.push(reply)
            })
            const id = `${url}/users/late${n}`
            return { ...crowd[host]!, id, keyId: `${id}#main-key` }
          })
        )
        const sent = yield* Effect.forkChild(Effect.all(
          keys.map((by, n) => from(`198.51.100.${n % 10}`, by, `${by.id}/1`)),
          { concurrency: "unbounded" }
        ))
        // All slots of the six hosts are taken, eight each.
        yield* eventually(Effect.sync(() => waiting?.length), (asked) => asked !== undefined && asked >= 48)
        for (const address of ["203.0.113.50", "198.51.100.3"]) {
          assert.deepStrictEqual(yield* from(address, good, `${good.id}/${address}`), { status: 202, retryAfter: null })
        }
        assert.isTrue((yield* Fiber.join(sent)).every(({ status }) => status === 503))
        const responses = waiting
        waiting = undefined
        for (const reply of responses) reply()
      }))

    it.effect("F8: a database that does not respond is 503 with Retry-After, for every sender, and never a timeout", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const slow = yield* there("slow")
        yield* known(slow)
        const responses = yield* sql.withTransaction(Effect.gen(function*() {
          yield* sql`LOCK TABLE inbound_activities IN ACCESS EXCLUSIVE MODE`
          yield* sql`SET LOCAL idle_in_transaction_session_timeout = 0`
          const began = performance.now()
          const found = yield* Effect.all(
            Array.from({ length: 40 }, (_, n) => from(`198.51.100.${n % 10}`, slow, `${slow.id}/locked/${n}`)),
            { concurrency: "unbounded" }
          )
          assert.isBelow(performance.now() - began, allowedMillis(15_000))
          return found
        }))
        assert.deepStrictEqual([...new Set(responses.map(({ status }) => status))], [503])
        assert.isTrue(responses.every(({ retryAfter }) => Number(retryAfter) > 0))
        const later = Effect.map(from("198.51.100.1", slow, `${slow.id}/later`), ({ status }) => status)
        yield* eventually(later, (status) => status === 202)
      }))

    it.effect("pending activities are bounded per sender, per server and in total; the others continue", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const elsewhere = yield* peer
        const [busy, calm] = [yield* there("busy"), yield* elsewhere.actor("calm")]
        const [busyId, calmId] = [yield* known(busy), yield* known(calm)]
        let count = 0
        const status = (by: RemotePerson) =>
          Effect.map(from("192.0.2.1", by, `${by.id}/n/${++count}`), (reply) => reply.status)
        const becomes = (by: RemotePerson, wanted: number) => eventually(status(by), (found) => found === wanted)
        yield* backlog(busyId, waitingPerSenderMax)
        assert.deepStrictEqual([yield* status(busy), yield* status(calm)], [503, 202])
        // Other accounts of the same server fill its share.
        const other = yield* there("other")
        const otherId = yield* known(other)
        assert.strictEqual(yield* status(other), 202)
        yield* backlog(otherId, waitingPerDomainMax)
        const third = yield* there("third")
        assert.strictEqual(yield* becomes(third, 503), 503)
        assert.strictEqual(yield* status(calm), 202)
        yield* backlog(calmId, waitingMax)
        assert.strictEqual(yield* becomes(calm, 503), 503)
        yield* sql`DELETE FROM inbound_activities WHERE uri LIKE 'waits:%'`
        assert.deepStrictEqual([yield* becomes(third, 202), yield* becomes(calm, 202)], [202, 202])
      }))

    it.effect("F14: concurrent document requests per address are limited, and cached documents are served", () =>
      Effect.gen(function*() {
        const ada = yield* newPerson("ada")
        const sql = yield* SqlClient.SqlClient
        const { fetch } = yield* TestServer
        const path = new URL(yield* actorOf(ada)).pathname
        const deliverFromAddress = (address: string) =>
          Effect.map(
            fetch(path, { headers: { accept: "application/activity+json", "x-forwarded-for": address } }),
            ({ headers, status }) => ({ status, retryAfter: headers.get("retry-after") })
          )
        // While `accounts` is locked, a request for an unknown account waits.
        const found = yield* sql.withTransaction(Effect.gen(function*() {
          yield* sql`LOCK TABLE accounts IN ACCESS EXCLUSIVE MODE`
          yield* sql`SET LOCAL idle_in_transaction_session_timeout = 0`
          const asked = bounds.documents.perAddressMax + 10
          return yield* Effect.all(Array.from({ length: asked }, () => deliverFromAddress("203.0.113.9")), {
            concurrency: "unbounded"
          })
        }))
        assert.isTrue(found.every(({ retryAfter, status }) => status === 503 && Number(retryAfter) > 0))
        assert.isAtLeast(found.filter(({ retryAfter }) => retryAfter === "10").length, 10)
        yield* eventually(deliverFromAddress("203.0.113.9"), ({ status }) => status === 200)
        // Cached keys need no database. The tables are locked one after another, so background work that holds one and
        // waits for another may end the transaction as a deadlock.
        const cached = yield* sql.withTransaction(
          Effect.andThen(
            sql`LOCK TABLE accounts, users, retired_usernames IN ACCESS EXCLUSIVE MODE`,
            deliverFromAddress("203.0.113.10")
          )
        ).pipe(Effect.retry({ times: 5 }))
        assert.strictEqual(cached.status, 200)
      }))
  }
)
