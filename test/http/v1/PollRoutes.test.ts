import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Poll } from "../../../src/http/wire/Poll.ts"
import { ScheduledStatus } from "../../../src/http/wire/ScheduledStatus.ts"
import { Status, StatusEdit } from "../../../src/http/wire/Status.ts"
import { call, newPerson, sendPost } from "../../support/Api.ts"
import { type Person, TestServer } from "../../support/Server.ts"

const question = { options: ["Tea", "Coffee"], expires_in: 3_600 }
const asked = Effect.fnUntraced(function*(person: Person, poll: Record<string, unknown> = {}, more = {}) {
  const { body, status } = yield* sendPost(person, { status: "Which?", poll: { ...question, ...poll }, ...more })
  assert.strictEqual(status, 200, JSON.stringify(body))
  return yield* Schema.decodeUnknownEffect(Status)(body)
})
const vote = (person: Person, id: string, choices: unknown) =>
  call("POST", `/api/v1/polls/${id}/votes`, person.token, { choices })
const seen = Effect.fnUntraced(function*(id: string, person?: Person) {
  const { body } = yield* call("GET", `/api/v1/polls/${id}`, person?.token)
  return yield* Schema.decodeUnknownEffect(Poll)(body)
})

layer(TestServer.layer(), { excludeTestServices: true })("polls", (it) => {
  it.effect("S-061 S-076 S-078 S-191: a poll is created with a post and voted on once; voters see their own votes", () =>
    Effect.gen(function*() {
      const [ada, bob, eve] = [yield* newPerson("ada"), yield* newPerson("bob"), yield* newPerson("eve")]
      const { id, poll } = yield* asked(ada, { multiple: true })
      assert.deepInclude(poll, { expired: false, multiple: true, votes_count: 0, voters_count: 0, voted: true })
      assert.deepStrictEqual(poll?.own_votes, [])
      assert.deepStrictEqual(poll?.options, [{ title: "Tea", votes_count: 0 }, { title: "Coffee", votes_count: 0 }])
      const ends = Date.parse(poll?.expires_at ?? "") -
        Date.parse((yield* call("GET", `/api/v1/statuses/${id}`, ada.token)).body.created_at)
      assert.strictEqual(ends, 3_600_000)

      const voted = yield* vote(bob, id, ["1", "0"])
      assert.strictEqual(voted.status, 200)
      assert.deepInclude(voted.body, { voted: true, own_votes: [1, 0], votes_count: 2, voters_count: 1 })
      const again = yield* vote(bob, id, [0])
      assert.deepStrictEqual([again.status, again.body.error], [
        422,
        "Validation failed: You have already voted on this poll"
      ])
      assert.deepInclude(yield* seen(id, eve), { voted: false, own_votes: [], votes_count: 2 })
      const open = yield* seen(id)
      assert.notProperty(open, "voted")
      assert.notProperty(open, "own_votes")
      // Also in lists, and through a reblog.
      yield* call("POST", `/api/v1/statuses/${id}/reblog`, bob.token)
      const { body: page } = yield* call("GET", `/api/v1/accounts/${bob.accountId}/statuses`, bob.token)
      assert.isNull(page[0].poll)
      assert.deepStrictEqual(page[0].reblog.poll, voted.body)
    }))

  it.effect("totals are hidden until the end, if the author wants it", () =>
    Effect.gen(function*() {
      const [ada, bob] = [yield* newPerson("hiding"), yield* newPerson("curious")]
      const { id } = yield* asked(ada, { hide_totals: true })
      yield* vote(bob, id, 0)
      const { options, own_votes, votes_count } = yield* seen(id, bob)
      assert.deepStrictEqual(options.map((option) => option.votes_count), [null, null])
      assert.deepStrictEqual([votes_count, own_votes], [1, [0]])
    }))

  it.effect("row 56, row 57: a hidden poll is not found, nor is a post without one", () =>
    Effect.gen(function*() {
      const [ada, bob] = [yield* newPerson("private"), yield* newPerson("outside")]
      const { id } = yield* asked(ada, {}, { visibility: "private" })
      const plain = yield* sendPost(ada, { status: "No question" })
      for (const one of [id, plain.body.id, "4711", "x"]) {
        for (const response of [yield* call("GET", `/api/v1/polls/${one}`, bob.token), yield* vote(bob, one, [0])]) {
          assert.deepStrictEqual([response.status, response.body], [404, { error: "Record not found" }])
        }
      }
      assert.strictEqual((yield* seen(id, ada)).votes_count, 0)
    }))

  it.effect("an invalid poll is refused with a message (operations.md section 5)", () =>
    Effect.gen(function*() {
      const ada = yield* newPerson("wrong")
      const long = "x".repeat(51)
      const cases = [
        [{ options: ["one", " "] }, "Poll choices must have more than one item"],
        [{ options: ["1", "2", "3", "4", "5"] }, "Poll choices can't contain more than 4 items"],
        [{ options: ["one", long] }, "Poll choices cannot be longer than 50 characters each"],
        [{ options: ["one", "one "] }, "Poll choices contain duplicate items"],
        [{ expires_in: 299 }, "Poll expires at is too soon"],
        [{ expires_in: "soon" }, "Poll expires at is too soon"],
        [{ expires_in: 2_629_747 }, "Poll expires at is too far into the future"]
      ] as const
      for (const [poll, text] of cases) {
        const { body, status } = yield* sendPost(ada, { status: "?", poll: { ...question, ...poll } })
        assert.deepStrictEqual([status, body.error], [422, `Validation failed: ${text}`])
      }
      const bare = yield* sendPost(ada, { poll: question })
      assert.strictEqual(bare.body.error, "Validation failed: Text can't be blank")
      assert.isNull((yield* sendPost(ada, { status: "None", poll: { options: [] } })).body.poll)
    }))

  it.effect("S-077: an edit of the question voids the votes, other edits keep them; history shows the earlier question", () =>
    Effect.gen(function*() {
      const [ada, bob] = [yield* newPerson("editing"), yield* newPerson("voting")]
      const { id } = yield* asked(ada)
      yield* vote(bob, id, [1])
      const edit = (json: Record<string, unknown>) => call("PUT", `/api/v1/statuses/${id}`, ada.token, json)
      const edited = yield* edit({ status: "Which one?" })
      assert.deepInclude(edited.body.poll, { votes_count: 1, voters_count: 1 })
      // A longer time for the same question is not a new version.
      const longer = yield* edit({ status: "Which one?", poll: { ...question, expires_in: 86_400 } })
      assert.strictEqual(longer.body.edited_at, edited.body.edited_at)
      assert.strictEqual(longer.body.poll.votes_count, 1)
      assert.isAbove(Date.parse(longer.body.poll.expires_at), Date.parse(edited.body.poll.expires_at))
      const other = yield* edit({ status: "Which one?", poll: { ...question, multiple: true } })
      assert.deepInclude(other.body.poll, { votes_count: 0, voters_count: 0, multiple: true })
      assert.deepInclude(yield* seen(id, bob), { voted: false, own_votes: [] })
      assert.strictEqual((yield* vote(bob, id, [0, 1])).status, 200)
      const renamed = yield* edit({
        status: "Which one?",
        poll: { ...question, options: ["Tea", "Water"], multiple: true }
      })
      assert.strictEqual(renamed.body.poll.votes_count, 0)
      const gone = yield* edit({ status: "Never mind", poll: null })
      assert.isNull(gone.body.poll)
      const { body: history } = yield* call("GET", `/api/v1/statuses/${id}/history`, bob.token)
      const versions = yield* Schema.decodeUnknownEffect(Schema.Array(StatusEdit))(history)
      assert.deepStrictEqual(versions.map(({ poll }) => poll?.options.map(({ title }) => title)), [
        ["Tea", "Coffee"],
        ["Tea", "Coffee"],
        ["Tea", "Coffee"],
        ["Tea", "Water"],
        undefined
      ])
    }))

  it.effect("a poll waits with its scheduled post, and forms create polls like JSON", () =>
    Effect.gen(function*() {
      const ada = yield* newPerson("planning")
      const scheduled_at = new Date(Date.now() + 3_600_000).toISOString()
      const { body } = yield* sendPost(ada, {
        status: "Later?",
        poll: { ...question, hide_totals: true },
        scheduled_at
      })
      const { params } = yield* Schema.decodeUnknownEffect(ScheduledStatus)(body)
      assert.deepStrictEqual(params.poll, {
        options: question.options,
        expires_in: "3600",
        multiple: false,
        hide_totals: true
      })
      const wrong = yield* sendPost(ada, { status: "Later?", poll: { ...question, expires_in: 1 }, scheduled_at })
      assert.strictEqual(wrong.body.error, "Validation failed: Poll expires at is too soon")
      const { fetch } = yield* TestServer
      const form = new URLSearchParams([
        ["status", "By form"],
        ["poll[options][]", "a"],
        ["poll[options][]", "b"],
        ["poll[expires_in]", "300"],
        ["poll[multiple]", "true"]
      ])
      const response = yield* fetch("/api/v1/statuses", { method: "POST", token: ada.token, body: form })
      const { poll } = yield* Schema.decodeUnknownEffect(Status)(yield* Effect.promise(() => response.json()))
      assert.isTrue(poll?.multiple)
      assert.deepStrictEqual(poll?.options.map(({ title }) => title), ["a", "b"])
    }))
})
