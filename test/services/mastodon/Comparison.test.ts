import { assert, layer } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { cli } from "../../support/CommandLine.ts"
import { argumentsOf, idOf, servers, source, transferred } from "../../support/mastodon/Copies.ts"
import { otherServer } from "../../support/RemotePosts.ts"
import { TestServer } from "../../support/Server.ts"

layer(servers, { excludeTestServices: true })(
  "a comparison with the running Mastodon server",
  (it) => {
    it.effect("reports in which fields of which documents both differ, and fails if they do", () =>
      Effect.gen(function*() {
        const fs = yield* FileSystem.FileSystem
        const { baseUrl, fetch, variables } = yield* TestServer
        const from = yield* source("4.5")
        const { insert } = from
        const ada = yield* from.person(idOf(1), "ada")
        const bert = yield* from.person(idOf(2), "bert", { account: { idScheme: 1 } })
        const written = (n: number, accountId: bigint, more: object = {}) => ({
          id: idOf(n),
          accountId,
          local: true,
          text: `post ${n}`,
          ...more
        })
        yield* insert(
          "statuses",
          written(10, ada.id),
          written(11, bert.id, { visibility: 1 }),
          written(12, ada.id, { visibility: 2 }),
          written(13, ada.id, { deletedAt: new Date() }),
          written(14, ada.id, { text: "edited there" })
        )
        yield* transferred(from, "copy")

        const paths = [
          "/users/ada",
          `/ap/users/${bert.id}`,
          `/users/ada/statuses/${idOf(10)}`,
          `/ap/users/${bert.id}/statuses/${idOf(11)}`,
          `/users/ada/statuses/${idOf(14)}`
        ]
        const old = yield* otherServer
        const put = (path: string, document: object) =>
          old.put(path, Buffer.from(JSON.stringify(document)), "application/activity+json; charset=utf-8")
        const documents = new Map<string, Record<string, unknown>>()
        for (const path of paths) {
          const response = yield* fetch(path, { headers: { accept: "application/activity+json" } })
          assert.strictEqual(response.status, 200, path)
          const { published, to, ...document } = JSON.parse(yield* Effect.promise(() => response.text()))
          // As Mastodon writes it: times to the second, a single recipient as a string.
          documents.set(path, {
            ...document,
            published: String(published).replace(/\.\d+Z$/, "Z"),
            ...(to && { to: to.length === 1 ? to[0] : to })
          })
        }
        for (const [path, document] of documents) put(path, document)
        const verify = (url: string, ...more: ReadonlyArray<string>) =>
          cli(argumentsOf(from, "verify", "--against", url, "--per-second", "1000", ...more), {
            ...variables,
            OUTBOUND_ALLOW: "127.0.0.0/8"
          })
        const equal = yield* verify(old.baseUrl)
        assert.deepStrictEqual([equal.code, equal.err], [0, ""])
        assert.include(equal.out, "5 documents are equal at both servers.")
        assert.sameMembers(old.asked, paths, "private and deleted posts are not asked for")

        const few = yield* verify(old.baseUrl, "--actors", "1", "--objects", "2")
        assert.include(few.out, "3 documents are equal at both servers.")

        const actor = documents.get("/users/ada")
        put("/users/ada", {
          ...actor,
          inbox: "https://other.example/inbox",
          publicKey: { id: "x", publicKeyPem: "another" }
        })
        put(paths[4] ?? "", { ...documents.get(paths[4] ?? ""), content: "<p>edited\tsince</p>", cc: [] })
        old.reply(paths[3] ?? "", (_, response) => response.writeHead(404).end())
        old.reply(
          paths[1] ?? "",
          (_, response) => response.writeHead(200, { "content-type": "text/html" }).end("hello")
        )
        const different = yield* verify(old.baseUrl)
        assert.strictEqual(different.code, 1)
        assert.include(different.err, "5 documents were compared: 7 fields differ.")
        const table = different.out.split("\n").filter((line) => line.startsWith(baseUrl)).map((line) =>
          line.split("\t")
        )
        assert.sameDeepMembers(table.map(([id, field]) => [id, field]), [
          [`${baseUrl}/users/ada`, "inbox"],
          [`${baseUrl}/users/ada`, "publicKey.id"],
          [`${baseUrl}/users/ada`, "publicKey.publicKeyPem"],
          [baseUrl + paths[1], "document"],
          [baseUrl + paths[3], "document"],
          [baseUrl + paths[4], "cc"],
          [baseUrl + paths[4], "content"]
        ])
        assert.deepStrictEqual(
          table.find(([, field]) => field === "content")?.slice(2),
          [
            "<p>edited there</p>",
            "<p>edited since</p>"
          ]
        )
        const nowhere = yield* verify("no address")
        assert.strictEqual(nowhere.code, 1)
        assert.include(nowhere.err, "--against is no URL")
        assert.isFalse(yield* fs.exists(`${from.folder}/rejects.tsv`))
      }))
  }
)
