import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Account } from "../../../src/http/wire/Account.ts"
import { List } from "../../../src/http/wire/List.ts"
import { Tag } from "../../../src/http/wire/Tag.ts"
import { ask, idsOf, newPerson, settled } from "../../support/Api.ts"
import { links } from "../../support/Requests.ts"
import { type Person, TestServer } from "../../support/Server.ts"

const strict = { onExcessProperty: "error" } as const
const missing = { error: "Record not found" }
const path = "/api/v1/lists"

const create = (by: Person, more: object = {}) =>
  Effect.map(ask(by, "POST", path, { title: "Friends", ...more }), ({ body }): string => body.id)
const follow = (by: Person, whom: Person, more?: object) =>
  ask(by, "POST", `/api/v1/accounts/${whom.accountId}/follow`, more)
const put = (by: Person, list: string, ...members: ReadonlyArray<Person>) =>
  ask(by, "POST", `${path}/${list}/accounts`, { account_ids: members.map(({ accountId }) => String(accountId)) })
const say = (by: Person, status: string, more: object = {}) =>
  Effect.map(ask(by, "POST", "/api/v1/statuses", { status, ...more }), ({ body }): string => body.id)
const timeline = (by: Person, list: string, query = "") => idsOf(by, `/api/v1/timelines/list/${list}${query}`)
/** Has feeds made anew. */
const forget = (by: Person, other: Person) => ask(by, "POST", `/api/v1/accounts/${other.accountId}/unmute`)
const home = (by: Person) => idsOf(by, "/api/v1/timelines/home")

layer(TestServer.layer(), { excludeTestServices: true, timeout: "3 minutes" })("lists", (it) => {
  it.effect("S-003 S-098 S-217 S-220 S-246: are made, shown, changed and deleted by their owner alone", () =>
    Effect.gen(function*() {
      const [anna, ben] = [yield* newPerson("anna1"), yield* newPerson("ben1")]
      assert.deepStrictEqual((yield* ask(anna, "GET", path)).body, [])
      const made = yield* ask(anna, "POST", path, { title: "  Friends " })
      yield* Schema.decodeUnknownEffect(List)(made.body, strict)
      const { id } = made.body
      assert.deepStrictEqual(made.body, { id, title: "  Friends ", replies_policy: "list", exclusive: false })
      const other = yield* ask(anna, "POST", path, { title: "News", replies_policy: "none", exclusive: "1" })
      assert.deepInclude(other.body, { replies_policy: "none", exclusive: true })
      assert.deepStrictEqual((yield* ask(anna, "GET", path)).body, [made.body, other.body])
      const one = `${path}/${id}`
      assert.deepStrictEqual((yield* ask(anna, "GET", one)).body, made.body)
      assert.deepStrictEqual(
        (yield* ask(anna, "PUT", one, { title: "Family", replies_policy: "followed" })).body,
        { id, title: "Family", replies_policy: "followed", exclusive: false }
      )
      // What is not said stays.
      assert.deepStrictEqual(
        (yield* ask(anna, "PATCH", one, { exclusive: true })).body,
        { id, title: "Family", replies_policy: "followed", exclusive: true }
      )
      const refusals: ReadonlyArray<readonly [object, string]> = [
        [{}, "Title can't be blank"],
        [{ title: " " }, "Title can't be blank"],
        [{ title: "x".repeat(257) }, "Title is too long (maximum is 256 characters)"],
        [{ title: "x", replies_policy: "all" }, "Replies policy is not included in the list"],
        [{ title: "", replies_policy: "" }, "Title can't be blank, Replies policy is not included in the list"]
      ]
      for (const [given, text] of refusals) {
        const { body, status } = yield* ask(anna, "POST", path, given)
        assert.deepStrictEqual([status, body], [422, { error: `Validation failed: ${text}` }])
      }
      for (const given of [{ title: "" }, { title: "💜".repeat(257) }, { replies_policy: "x" }]) {
        assert.strictEqual((yield* ask(anna, "PUT", one, given)).status, 422)
      }
      assert.strictEqual((yield* ask(anna, "PUT", one, { title: "💜".repeat(256) })).status, 200)

      // What is somebody else's is answered like what is not there.
      const tries = [
        ["GET", ""],
        ["PUT", ""],
        ["PATCH", ""],
        ["DELETE", ""],
        ["GET", "/accounts"],
        ["POST", "/accounts"],
        ["DELETE", "/accounts"],
        ["GET", "/tags"],
        ["POST", "/tags"],
        ["DELETE", "/tags"]
      ] as const
      for (const [method, more] of tries) {
        const body = method === "GET" ? undefined : { title: "Mine", account_ids: [String(ben.accountId)], tags: ["x"] }
        for (const list of [id, "4711", "x", "99999999999999999999"]) {
          const answer = yield* ask(ben, method, `${path}/${list}${more}`, body)
          assert.deepStrictEqual([answer.status, answer.body], [404, missing], `${method} ${list}${more}`)
        }
      }
      assert.deepStrictEqual((yield* ask(ben, "GET", `/api/v1/timelines/list/${id}`)).body, missing)
      assert.deepStrictEqual((yield* ask(anna, "GET", `/api/v1/timelines/list/4711`)).body, missing)
      assert.deepStrictEqual((yield* ask(anna, "DELETE", one)).body, {})
      assert.deepStrictEqual((yield* ask(anna, "GET", one)).body, missing)
      assert.deepStrictEqual((yield* ask(anna, "GET", path)).body, [other.body])
    }))

  it.effect("S-290: an account has 50 of them, however many it asks for at once", () =>
    Effect.gen(function*() {
      const anna = yield* newPerson("anna2")
      const answers = yield* Effect.forEach(
        Array.from({ length: 54 }, (_, index) => `List ${index}`),
        (title) => ask(anna, "POST", path, { title }),
        { concurrency: 9 }
      )
      assert.strictEqual(answers.filter(({ status }) => status === 200).length, 50)
      const refused = answers.find(({ status }) => status === 422)
      assert.strictEqual(refused?.body.error, "Validation failed: You have reached the maximum number of lists")
      assert.lengthOf((yield* ask(anna, "GET", path)).body, 50)
    }))

  it.effect("S-218 S-219 S-136: members are followed, asked for or strangers; their page, and the lists of one", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const [anna, ben, cleo, dora] = [
        yield* newPerson("anna3"),
        yield* newPerson("ben3"),
        yield* newPerson("cleo3"),
        yield* newPerson("dora3")
      ]
      yield* ask(cleo, "PATCH", "/api/v1/accounts/update_credentials", { locked: true })
      yield* follow(anna, ben)
      yield* follow(anna, cleo)
      const list = yield* create(anna)
      const accounts = `${path}/${list}/accounts`
      assert.deepStrictEqual((yield* put(anna, list, ben, cleo)).body, {})
      // Beyond Mastodon: a stranger, and oneself.
      assert.deepStrictEqual((yield* put(anna, list, dora, anna)).body, {})
      const taken = yield* put(anna, list, ben)
      assert.deepStrictEqual(
        [taken.status, taken.body],
        [422, { error: "Validation failed: Account is already on the list" }]
      )
      for (const ids of [["4711"], [String(ben.accountId), "x"], ["99999999999999999999"], [String(2n ** 63n)]]) {
        const unknown = yield* ask(anna, "POST", accounts, { account_ids: ids })
        assert.deepStrictEqual([unknown.status, unknown.body], [404, missing], ids.join())
      }
      assert.deepStrictEqual((yield* ask(anna, "POST", accounts, {})).body, {})

      const all = yield* ask(anna, "GET", accounts)
      yield* Schema.decodeUnknownEffect(Schema.Array(Account))(all.body, strict)
      assert.deepStrictEqual(yield* idsOf(anna, `${accounts}?limit=0`), yield* idsOf(anna, accounts))
      assert.sameMembers(
        all.body.map(({ id }: Account) => id),
        [ben, cleo, dora, anna].map(({ accountId }) => String(accountId))
      )
      const first = yield* ask(anna, "GET", `${accounts}?limit=3`)
      assert.lengthOf(first.body, 3)
      const { next, prev } = links(first.headers)
      assert.lengthOf(yield* idsOf(anna, next!), 1)
      assert.include(prev!, "since_id=")
      assert.isNull((yield* ask(anna, "GET", `${accounts}?limit=0`)).headers.get("link"))

      const holding = yield* ask(anna, "GET", `/api/v1/accounts/${dora.accountId}/lists`)
      assert.deepStrictEqual(holding.body.map(({ id }: List) => id), [list])
      assert.deepStrictEqual((yield* ask(dora, "GET", `/api/v1/accounts/${dora.accountId}/lists`)).body, [])
      assert.strictEqual((yield* ask(anna, "GET", `/api/v1/accounts/4711/lists`)).status, 404)

      const removed = yield* ask(anna, "DELETE", accounts, { account_ids: [String(dora.accountId), "4711", "x"] })
      assert.deepStrictEqual(removed.body, {})
      const query = `${accounts}?account_ids[]=${anna.accountId}`
      assert.deepStrictEqual((yield* ask(anna, "DELETE", query)).body, {})
      // Who is asked and says no, who is not followed any more, who is blocked or blocks is in no list.
      yield* ask(cleo, "POST", `/api/v1/follow_requests/${anna.accountId}/reject`)
      assert.deepStrictEqual(yield* idsOf(anna, accounts), [String(ben.accountId)])
      yield* ask(anna, "POST", `/api/v1/accounts/${ben.accountId}/unfollow`)
      assert.deepStrictEqual(yield* idsOf(anna, accounts), [])
      yield* put(anna, list, ben, dora)
      yield* ask(anna, "POST", `/api/v1/accounts/${ben.accountId}/block`)
      yield* ask(dora, "POST", `/api/v1/accounts/${anna.accountId}/block`)
      assert.deepStrictEqual(yield* idsOf(anna, accounts), [])
      for (const other of [ben, dora]) assert.strictEqual((yield* put(anna, list, other)).status, 403)
      // Accepted after it was put in, a member stays.
      yield* follow(anna, cleo)
      yield* put(anna, list, cleo)
      yield* ask(cleo, "POST", `/api/v1/follow_requests/${anna.accountId}/authorize`)
      assert.deepStrictEqual(yield* idsOf(anna, accounts), [String(cleo.accountId)])
      yield* sql`UPDATE accounts SET suspended_at = created_at WHERE id = ${cleo.accountId}`
      assert.deepStrictEqual(yield* idsOf(anna, accounts), [])
      yield* sql`UPDATE accounts SET suspended_at = NULL WHERE id = ${cleo.accountId}`
    }))

  it.effect("S-204 S-219: a list's timeline has its members' posts as home would, out of its feed and out of Postgres alike", () =>
    Effect.gen(function*() {
      const [anna, ben, cleo, dora] = [
        yield* newPerson("anna4"),
        yield* newPerson("ben4"),
        yield* newPerson("cleo4"),
        yield* newPerson("dora4")
      ]
      yield* follow(anna, ben)
      yield* follow(anna, cleo, { reblogs: false })
      const list = yield* create(anna, { replies_policy: "list" })
      yield* put(anna, list, ben, cleo, dora)
      assert.deepStrictEqual(yield* timeline(anna, list), [])
      const wanted: Array<string> = []
      const keep = (id: string) => wanted.unshift(id)
      keep(yield* say(ben, "public"))
      const hidden = yield* say(ben, "private", { visibility: "private" })
      keep(hidden)
      keep(yield* say(dora, "unlisted of a stranger", { visibility: "unlisted" }))
      yield* say(dora, "private of a stranger", { visibility: "private" })
      yield* say(ben, "@anna4 direct", { visibility: "direct" })
      keep(yield* say(ben, "to a member", { in_reply_to_id: wanted.at(-1) }))
      const eva = yield* newPerson("eva4")
      const elsewhere = yield* say(eva, "of somebody else")
      yield* say(ben, "to somebody else", { in_reply_to_id: elsewhere })
      yield* ask(cleo, "POST", `/api/v1/statuses/${elsewhere}/reblog`)
      keep((yield* ask(ben, "POST", `/api/v1/statuses/${elsewhere}/reblog`)).body.id)
      yield* settled
      assert.deepStrictEqual(yield* timeline(anna, list), wanted)
      yield* forget(anna, eva)
      assert.deepStrictEqual(yield* timeline(anna, list), wanted)

      const page = yield* ask(anna, "GET", `/api/v1/timelines/list/${list}?limit=2`)
      assert.deepStrictEqual(page.body.map(({ id }: { readonly id: string }) => id), wanted.slice(0, 2))
      const { next, prev } = links(page.headers)
      assert.deepStrictEqual(yield* idsOf(anna, next!), wanted.slice(2, 4))
      assert.deepStrictEqual(yield* idsOf(anna, prev!), [])
      assert.deepStrictEqual(yield* timeline(anna, list, `?min_id=${wanted[3]}&limit=1`), [wanted[2]!])
      assert.deepStrictEqual(yield* timeline(anna, list, `?since_id=${wanted[3]}&limit=1`), [wanted[0]!])

      yield* ask(ben, "DELETE", `/api/v1/statuses/${hidden}`)
      yield* settled
      assert.deepStrictEqual(yield* timeline(anna, list), wanted.filter((id) => id !== hidden))
      yield* ask(anna, "POST", `/api/v1/accounts/${dora.accountId}/mute`)
      const others = wanted.filter((id, at) => id !== hidden && at !== 2)
      assert.deepStrictEqual((yield* timeline(anna, list)).length, others.length)
      yield* ask(anna, "POST", `/api/v1/accounts/${ben.accountId}/unfollow`)
      assert.deepStrictEqual(yield* timeline(anna, list), [])
    }))

  it.effect("replies are those to members, to whom one follows, or none, as the list says", () =>
    Effect.gen(function*() {
      const [anna, ben, cleo, dora] = [
        yield* newPerson("anna5"),
        yield* newPerson("ben5"),
        yield* newPerson("cleo5"),
        yield* newPerson("dora5")
      ]
      for (const other of [ben, cleo]) yield* follow(anna, other)
      const [byDora, byCleo, byAnna, byBen] = [
        yield* say(dora, "one"),
        yield* say(cleo, "two"),
        yield* say(anna, "three"),
        yield* say(ben, "four")
      ]
      const list = yield* create(anna)
      yield* put(anna, list, ben, dora)
      const answer = (to: string) => say(ben, "@cleo5 well", { in_reply_to_id: to })
      const [toDora, toCleo, toAnna, toSelf] = [
        yield* answer(byDora),
        yield* answer(byCleo),
        yield* answer(byAnna),
        yield* answer(byBen)
      ]
      const expected = {
        list: [toSelf, toAnna, toDora],
        followed: [toSelf, toAnna, toCleo],
        none: [toSelf, toAnna]
      }
      for (const [policy, replies] of Object.entries(expected)) {
        yield* ask(anna, "PUT", `${path}/${list}`, { replies_policy: policy })
        assert.deepStrictEqual(yield* timeline(anna, list), [...replies, byBen, byDora], policy)
      }
    }))

  it.effect("S-220: what an exclusive list shows is not at home, until it is exclusive no more", () =>
    Effect.gen(function*() {
      const [anna, ben, cleo] = [yield* newPerson("anna6"), yield* newPerson("ben6"), yield* newPerson("cleo6")]
      for (const other of [ben, cleo]) yield* follow(anna, other)
      const list = yield* create(anna, { exclusive: true })
      yield* ask(anna, "POST", `${path}/${list}/tags`, { tags: ["#Birds"] })
      const plain = yield* say(cleo, "plain")
      const early = yield* say(ben, "early")
      assert.deepStrictEqual(yield* home(anna), [early, plain])
      yield* put(anna, list, ben)
      assert.deepStrictEqual(yield* home(anna), [plain])
      const late = yield* say(ben, "late")
      const direct = yield* say(ben, "@anna6 direct", { visibility: "direct" })
      const birds = yield* say(cleo, "of #birds")
      const fewer = yield* say(cleo, "for fewer, of #birds", { visibility: "unlisted" })
      const mine = yield* say(anna, "my #birds")
      yield* settled
      const apart = [mine, fewer, direct, plain]
      assert.deepStrictEqual(yield* home(anna), apart)
      assert.deepStrictEqual(yield* timeline(anna, list), [mine, birds, late, early])
      yield* forget(anna, cleo)
      assert.deepStrictEqual(yield* home(anna), apart)
      yield* ask(anna, "PUT", `${path}/${list}`, { exclusive: false })
      const all = [mine, fewer, birds, direct, late, early, plain]
      assert.deepStrictEqual(yield* home(anna), all)
      yield* ask(anna, "PUT", `${path}/${list}`, { exclusive: true })
      assert.deepStrictEqual(yield* home(anna), apart)
      yield* ask(anna, "DELETE", `${path}/${list}`)
      assert.deepStrictEqual(yield* home(anna), all)
    }))

  it.effect("beyond Mastodon: hashtags are members, by any spelling", () =>
    Effect.gen(function*() {
      const [anna, ben] = [yield* newPerson("anna7"), yield* newPerson("ben7")]
      const list = yield* create(anna)
      const tags = `${path}/${list}/tags`
      assert.deepStrictEqual((yield* ask(anna, "GET", tags)).body, [])
      assert.deepStrictEqual((yield* ask(anna, "POST", tags, { tags: ["#Cats", "dögs"] })).body, {})
      assert.deepStrictEqual((yield* ask(anna, "POST", tags, { tags: ["CATS"] })).body, {})
      const shown = yield* ask(anna, "GET", tags)
      yield* Schema.decodeUnknownEffect(Schema.Array(Tag))(shown.body, strict)
      assert.sameMembers(shown.body.map(({ name }: Tag) => name), ["Cats", "dögs"])
      for (const names of [["no tag"], ["cats", "12"], [""], ["#"]]) {
        const { body, status } = yield* ask(anna, "POST", tags, { tags: names })
        if (names[0] === "") assert.deepStrictEqual(body, {})
        else assert.deepStrictEqual([status, body], [404, missing], names.join())
      }
      const one = yield* say(ben, "#cäts #DOGS")
      yield* say(ben, "#cats for few", { visibility: "unlisted" })
      yield* settled
      assert.deepStrictEqual(yield* timeline(anna, list), [one])
      assert.deepStrictEqual((yield* ask(anna, "DELETE", tags, { tags: ["dogs"] })).body, {})
      assert.deepStrictEqual(yield* timeline(anna, list), [one])
      assert.deepStrictEqual((yield* ask(anna, "DELETE", tags, { tags: ["#cats", "fish"] })).body, {})
      assert.deepStrictEqual(yield* timeline(anna, list), [])
      const many = Array.from({ length: 101 }, (_, index) => `t${index}`)
      const { body, status } = yield* ask(anna, "POST", tags, { tags: many })
      const text = "Validation failed: You have reached the maximum number of hashtags in a list"
      assert.deepStrictEqual([status, body], [422, { error: text }])
      assert.deepStrictEqual((yield* ask(anna, "GET", tags)).body, [])
    }))
})
