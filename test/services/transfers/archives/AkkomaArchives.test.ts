import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { zipSync } from "fflate"
import { Transfers } from "../../../../src/services/transfers/Transfers.ts"
import { archiveServer, claimAlias, everybody, importArchive } from "../../../support/Archives.ts"
import { user } from "../../../support/SignedIn.ts"

layer(archiveServer, { excludeTestServices: true })("archives of Akkoma", (it) => {
  it.effect("an archive as Akkoma writes it brings posts, a poll and boosts; its pictures are not in it", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const owner = yield* user("akk")
      const origin = "https://akkoma.example"
      const actor = `${origin}/users/akk`
      yield* claimAlias(owner, actor)
      const object = (number: number, more: object) => ({
        actor,
        attributedTo: actor,
        bcc: [],
        bto: [],
        cc: [`${actor}/followers`],
        content: `post ${number}`,
        context: `${origin}/contexts/${number}`,
        conversation: `${origin}/contexts/${number}`,
        id: `${origin}/objects/0000-${number}`,
        published: `2021-03-0${number}T10:00:00.123456Z`,
        sensitive: null,
        summary: "",
        tag: [],
        to: [everybody],
        type: "Note",
        attachment: [],
        ...more
      })
      const create = (note: ReturnType<typeof object>) => ({
        actor,
        cc: note.cc,
        context: note.context,
        directMessage: false,
        id: note.id.replace("objects", "activities"),
        object: note,
        published: note.published,
        to: note.to,
        type: "Create"
      })
      const picture = {
        mediaType: "image/png",
        name: "A hill",
        type: "Document",
        url: `${origin}/media/0123.png?name=hill.png`
      }
      const option = (name: string, totalItems: number) => ({
        name,
        replies: { totalItems, type: "Collection" },
        type: "Note"
      })
      const items = [
        create(object(1, { attachment: [picture], source: { content: "post *1*", mediaType: "text/markdown" } })),
        create(object(2, { inReplyTo: `${origin}/objects/0000-1`, summary: "about two", sensitive: true })),
        create(
          object(3, { type: "Question", closed: "2021-03-04T10:00:00Z", oneOf: [option("Yes", 2), option("No", 1)] })
        ),
        {
          actor,
          cc: [actor, everybody],
          context: `${origin}/contexts/9`,
          id: `${origin}/activities/0000-9`,
          object: "https://elsewhere.example/objects/9",
          published: "2021-03-05T10:00:00.000000Z",
          to: [`${actor}/followers`],
          type: "Announce"
        }
      ]
      // The files are written line by line, the header with blank lines.
      const file = (name: string, lines: ReadonlyArray<string>) =>
        new TextEncoder().encode(
          `{\n  "@context": "https://www.w3.org/ns/activitystreams",\n  "id": "${name}.json",\n  "type": "OrderedCollection",\n  "orderedItems": [\n\n${
            lines.join(",\n")
          }\n],\n  "totalItems": ${lines.length}}`
        )
      const archive = zipSync({
        "actor.json": new TextEncoder().encode(JSON.stringify({
          "@context": "https://www.w3.org/ns/activitystreams",
          id: actor,
          type: "Person",
          preferredUsername: "akk",
          followers: `${actor}/followers`,
          outbox: `${actor}/outbox`,
          likes: "likes.json",
          bookmarks: "bookmarks.json"
        })),
        "outbox.json": file("outbox", items.map((item) => JSON.stringify(item))),
        "likes.json": file("likes", [JSON.stringify("https://elsewhere.example/objects/1")]),
        "bookmarks.json": file("bookmarks", [])
      })
      const { id } = yield* importArchive(owner, archive)
      const done = yield* (yield* Transfers).find(owner, id)
      assert.deepInclude(done, { state: "finished", added: 3, failed: 1 })
      const rows = yield* sql`SELECT s.text, s.created_at, s.spoiler_text, s.sensitive, i.uri, p.counts
        FROM statuses s JOIN imported_statuses i ON i.status_id = s.id LEFT JOIN polls p ON p.status_id = s.id
        WHERE s.account_id = ${owner} ORDER BY s.created_at`
      assert.deepStrictEqual(rows.map(({ spoilerText, uri }) => [uri, spoilerText]), [
        [`${origin}/objects/0000-1`, ""],
        [`${origin}/objects/0000-2`, "about two"],
        [`${origin}/objects/0000-3`, ""]
      ])
      assert.deepStrictEqual(rows[2]?.["counts"], [2, 1])
      const [reply] = yield* sql`SELECT r.in_reply_to_id = s.id AS threaded FROM statuses s, statuses r
        WHERE s.account_id = ${owner} AND r.account_id = ${owner} AND r.spoiler_text = 'about two' AND s.html LIKE '%post 1%'`
      assert.deepStrictEqual(reply, { threaded: true })
    }))
})
