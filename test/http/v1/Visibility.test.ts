import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { get, ids, postJson, send } from "../../support/Requests.ts"
import { issueToken } from "../../support/SignedIn.ts"
import { server } from "../../support/WebServer.ts"
import {
  hiding,
  idsFor,
  type Kind,
  kinds,
  listOf,
  mayRead,
  people,
  request,
  roles,
  root,
  settle,
  statuses,
  suspended,
  tagListOf
} from "./Readership.ts"

layer(server(), { excludeTestServices: true })("visibility of statuses", (it) => {
  it.effect(
    "rows 55, 56, 57, 62: every route shows each status only to its permitted readers, and is 404 for others",
    () =>
      Effect.gen(function*() {
        const bearer = yield* settle
        const originals = kinds.filter((kind) => !["reblog", "reblogOfDeleted", "held"].includes(kind))
        for (const role of roles) {
          const by = bearer(role)
          const missing = yield* get("/api/v1/statuses/4711", by)
          assert.strictEqual(missing.status, 404)
          for (const kind of kinds) {
            const path = `/api/v1/statuses/${statuses[kind]}`
            const readable = mayRead(role, kind)
            const routes = [
              ...["", "/context", "/history", "/favourited_by", "/reblogged_by"].map((part) => path + part),
              `/api/v1/pleroma/statuses/${statuses[kind]}/reactions`,
              ...(by === undefined ? [] : [`${path}/source`, `${path}/quotes`])
            ]
            for (const route of routes) {
              const response = yield* get(route, by)
              assert.strictEqual(response.status, readable ? 200 : 404, `${role} ${kind} ${route}`)
              if (readable) continue
              assert.strictEqual(response.text, missing.text)
              assert.notInclude(response.text, "secret")
              assert.deepStrictEqual([...response.headers.keys()], [...missing.headers.keys()])
            }
            if (by !== undefined) {
              const marked = yield* postJson(`${path}/bookmark`, by)
              assert.strictEqual(marked.status, readable ? 200 : 404, `${role} bookmarks ${kind}`)
            }
          }

          const all = kinds.map((kind) => `id[]=${statuses[kind]}`).join("&")
          const welcome = hiding.has(role) ? [] : kinds
          assert.deepStrictEqual(yield* ids(`/api/v1/statuses?${all}`, by), idsFor(role, welcome), `${role} batch`)

          const own: ReadonlyArray<Kind> = [
            "localLimited",
            "localDirect",
            "localUnlisted",
            "localPrivate",
            "local",
            "direct",
            "private",
            "unlisted",
            "public"
          ]
          const published = role === "blocked" ? [] : [...idsFor(role, own), String(root)]
          assert.deepStrictEqual(yield* ids("/api/v1/accounts/1/statuses", by), published, `${role} account`)
          assert.deepStrictEqual(yield* ids("/api/v1/accounts/9/statuses", by), [])
          // A pending post is on its author's profile, only for the author.
          const his = yield* ids(`/api/v1/accounts/${people.stranger}/statuses`, by)
          assert.strictEqual(his.includes(String(statuses.held)), role === "stranger", `${role} held`)
          const open: ReadonlyArray<Kind> = hiding.has(role) || role === "blocked" ? [] : ["local", "public"]
          const newest = idsFor(role, open)
          const rootToo = open.length === 0 ? [] : [String(root)]
          assert.deepStrictEqual(yield* ids("/api/v1/timelines/public", by), [...newest, ...rootToo], `${role} public`)
          assert.deepStrictEqual(yield* ids("/api/v1/timelines/tag/KATZE", by), [...newest, ...rootToo], `${role} tag`)

          const linked = yield* ids("/api/v1/timelines/link?url=https://page.test/", by)
          assert.deepStrictEqual(linked, [...newest, ...rootToo], `${role} link`)
          // Replies do not trend.
          assert.deepStrictEqual(yield* ids("/api/v1/trends/statuses", by), rootToo, `${role} trends`)

          if (role !== "blocked") {
            const { body } = yield* get(`/api/v1/statuses/${root}/context`, by)
            const below = body.descendants.map(({ id }: { readonly id: string }) => id)
            const waiting = role === "stranger" ? [String(statuses.held)] : []
            const seen = [...idsFor(role, own).toReversed(), ...waiting]
            assert.deepStrictEqual(below, hiding.has(role) ? [] : seen, `${role} context`)
          }
          if (role === "anonymous") continue
          const marked = idsFor(role, originals).toReversed()
          assert.deepStrictEqual(yield* ids("/api/v1/favourites", by), marked, `${role} favourites`)
          const bookmarks = yield* ids("/api/v1/bookmarks", by)
          assert.deepStrictEqual(
            bookmarks.toSorted(),
            [...marked, ...idsFor(role, ["held"])].toSorted(),
            `${role} bookmarks`
          )
          const told = yield* get("/api/v1/notifications", by)
          const about = told.body.map(({ status }: { readonly status: { readonly id: string } }) => status.id)
          assert.deepStrictEqual(about, marked, `${role} notifications`)
          assert.strictEqual((yield* get("/api/v1/notifications/unread_count", by)).body.count, marked.length)
          const [conversation] = (yield* get("/api/v1/conversations", by)).body
          assert.strictEqual(conversation.last_status?.id ?? null, mayRead(role, "direct") ? "103" : null)
          const home = yield* ids("/api/v1/timelines/home", by)
          const expected = role === "follower"
            ? ["110", "109", "108", "102", "101", "100", "90"]
            : role === "author"
            ? ["112", "111", "110", "109", "108", "103", "102", "101", "100", "90"]
            : role === "stranger"
            ? ["114", "105"]
            : []
          assert.deepStrictEqual(home, expected, `${role} home`)
          const listed = (list: bigint) => ids(`/api/v1/timelines/list/${list}`, by)
          // The reblog repeats a status further below.
          const shown: ReadonlyArray<Kind> = ["localUnlisted", "localPrivate", "local", "private", "unlisted", "public"]
          const inList = open.length === 0 ? [] : [...idsFor(role, shown), String(root)]
          assert.deepStrictEqual(yield* listed(listOf(people[role])), inList, `${role} list`)
          assert.deepStrictEqual(
            yield* listed(tagListOf(people[role])),
            [...newest, ...rootToo],
            `${role} list of a tag`
          )
          const { status, text } = yield* get(`/api/v1/timelines/list/${listOf(suspended)}`, by)
          assert.deepStrictEqual([status, text], [404, missing.text], `${role} list of another`)
          const asked = yield* ids("/api/v1/interaction_requests", by)
          assert.deepStrictEqual(asked, role === "author" ? [String(request)] : [], `${role} requests`)
          if (role === "author" || by === undefined) continue
          for (const way of ["", "/authorize", "/reject"]) {
            const path = `/api/v1/interaction_requests/${request}${way}`
            const response = yield* way === "" ? get(path, by) : postJson(path, by)
            assert.deepStrictEqual([response.status, response.text], [404, missing.text], `${role} ${path}`)
          }
        }
      })
  )

  it.effect("row 63: data of other users is 404, by any id", () =>
    Effect.gen(function*() {
      const other = yield* issueToken(people.stranger)
      const mine = yield* issueToken(people.mentioned)
      const [notification] = (yield* get("/api/v1/notifications", mine)).body
      const [conversation] = (yield* get("/api/v1/conversations", mine)).body
      const attempts = [
        get(`/api/v1/notifications/${notification.id}`, other),
        get(`/api/v2/notifications/ungrouped-${notification.id}`, other),
        postJson(`/api/v1/conversations/${conversation.id}/read`, other),
        postJson(`/api/v1/conversations/${conversation.id}/unread`, other),
        send(`/api/v1/conversations/${conversation.id}`, {
          method: "DELETE",
          headers: { authorization: `Bearer ${other}` }
        })
      ]
      for (const attempt of attempts) {
        const { body, status } = yield* attempt
        assert.deepStrictEqual([status, body], [404, { error: "Record not found" }])
      }
      // A dismissal discloses nothing, and has no effect.
      yield* postJson(`/api/v1/notifications/${notification.id}/dismiss`, other)
      yield* postJson(`/api/v2/notifications/ungrouped-${notification.id}/dismiss`, other)
      assert.strictEqual((yield* get(`/api/v1/notifications/${notification.id}`, mine)).status, 200)
      assert.strictEqual((yield* get("/api/v1/conversations", mine)).body.length, 1)
    }))
})
