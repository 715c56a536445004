import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Status } from "../../../src/http/wire/Status.ts"
import { call } from "../../support/Api.ts"
import { TestServer } from "../../support/Server.ts"
import { deliverFrom, note, OtherServer, servers } from "./Sending.ts"

layer(servers, { excludeTestServices: true })("files of other servers", (it) => {
  it.effect("S-009, S-012: a post's files and its author's pictures are served by this server, and may exceed local limits", () =>
    Effect.gen(function*() {
      const { baseUrl, createPerson } = yield* TestServer
      const anna = yield* createPerson("anna")
      const picture = (name: string) => `https://files.example/${name}`
      const mia = yield* OtherServer.use(({ actor }) =>
        actor("mia", {
          icon: { type: "Image", mediaType: "image/png", url: picture("me.png"), summary: "Me" },
          image: [{ type: "Link", href: picture("sea.png") }]
        })
      )
      const { body: mine } = yield* call("POST", "/api/v1/statuses", anna.token, { status: "Show me" })
      const me = `${baseUrl}/users/anna`
      const attachment = [
        {
          type: "Document",
          mediaType: "image/png",
          url: picture("cat.png"),
          name: "A cat",
          blurhash: "LEHV6nWB2yk8pyo0adR*.7kCMdnj",
          focalPoint: [0.25, -0.5],
          width: 640,
          height: 480
        },
        {
          type: "Video",
          url: [{ type: "Link", href: picture("film.mp4") }],
          icon: { type: "Image", url: picture("still.png") }
        },
        { type: "Document", mediaType: "audio/mpeg", url: "javascript:alert(1)" },
        {
          type: "Document",
          mediaType: "image/png",
          url: picture("odd.png"),
          width: -1,
          height: 1e9,
          focalPoint: [7, "x"],
          blurhash: "<"
        },
        { type: "PropertyValue", name: "x", value: "y" },
        ...[1, 2, 3].map((n) => ({ type: "Image", url: picture(`more${n}.png`) }))
      ]
      const response = note(mia, "files", {
        inReplyTo: mine.uri,
        tag: [{ type: "Mention", href: me }],
        cc: [me],
        attachment
      })
      assert.strictEqual(yield* deliverFrom(mia, { type: "Create", object: response }), "done")
      const { body } = yield* call("GET", `/api/v1/statuses/${mine.id}/context`, anna.token)
      const { account, media_attachments: media } = yield* Schema.decodeUnknownEffect(Status)(body.descendants[0])
      assert.deepStrictEqual(media.map(({ remote_url, type }) => [type, remote_url]), [
        ["image", picture("cat.png")],
        ["video", picture("film.mp4")],
        ["image", picture("odd.png")],
        ["image", picture("more1.png")],
        ["image", picture("more2.png")],
        ["image", picture("more3.png")]
      ])
      const [cat, film, odd] = media
      assert.deepInclude(cat, { description: "A cat", blurhash: "LEHV6nWB2yk8pyo0adR*.7kCMdnj" })
      assert.deepStrictEqual(cat?.meta, {
        original: { width: 640, height: 480, size: "640x480", aspect: 640 / 480 },
        focus: { x: 0.25, y: -0.5 }
      })
      assert.strictEqual(film?.preview_remote_url, picture("still.png"))
      assert.isNull(odd?.blurhash)
      const ours = [cat?.url, film?.preview_url, account.avatar, account.header]
      for (const url of ours) assert.match(url ?? "", new RegExp(`^${baseUrl}/media_proxy/[0-9a-f]{40}$`))
      assert.strictEqual(new Set(ours).size, 4)
      assert.strictEqual(account.avatar_description, "Me")

      // An edit keeps the remaining files, updates their descriptions, and drops removed ones.
      const [, second] = attachment
      const edited = {
        ...response,
        attachment: [second, { ...attachment[0], name: "A grey cat" }],
        updated: new Date().toISOString()
      }
      assert.strictEqual(yield* deliverFrom(mia, { type: "Update", object: edited }), "done")
      const { body: now } = yield* call("GET", `/api/v1/statuses/${body.descendants[0].id}`, anna.token)
      const attachments = (yield* Schema.decodeUnknownEffect(Status)(now)).media_attachments
      assert.deepStrictEqual(attachments.map(({ description, id }) => [id, description]), [
        [film?.id, null],
        [cat?.id, "A grey cat"]
      ])
    }))
})
