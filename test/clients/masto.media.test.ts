import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { mastodon } from "masto"
import { probed, silent, sound, soundWithCover, video } from "../support/Ffmpeg.ts"
import { bytesAt, picture } from "../support/MediaFiles.ts"
import { TestServer } from "../support/Server.ts"
import { type Client, conforms, newcomer, refusal } from "./Masto.ts"

const file = (bytes: Uint8Array) => new Blob([new Uint8Array(bytes)])
const art = Effect.promise(() => picture(300, 300).png().toBuffer())

/** A file of each kind: how to make it, its type as an attachment, and the content type of the shown file. */
const kinds: ReadonlyArray<
  readonly [
    name: string,
    make: Effect.Effect<Uint8Array>,
    type: mastodon.v1.MediaAttachmentType,
    served: string
  ]
> = [
  ["jpeg", Effect.promise(() => picture(900, 600).jpeg().toBuffer()), "image", "image/jpeg"],
  ["png", Effect.promise(() => picture(900, 600).png().toBuffer()), "image", "image/png"],
  ["webp", Effect.promise(() => picture(900, 600).webp().toBuffer()), "image", "image/webp"],
  ["avif", Effect.promise(() => picture(900, 600).avif().toBuffer()), "image", "image/jpeg"],
  ["gif that moves", silent("a.gif"), "gifv", "video/mp4"],
  ["mp4", video("a.mp4"), "video", "video/mp4"],
  ["mp4 without sound", silent("a.mp4"), "gifv", "video/mp4"],
  ["webm", video("a.webm", ["-c:v", "libvpx", "-c:a", "libvorbis"]), "video", "video/mp4"],
  ["mov", video("a.mov"), "video", "video/mp4"],
  ["mp3 with a cover", Effect.flatMap(art, (cover) => soundWithCover(cover, [])), "audio", "audio/mpeg"],
  ["ogg", sound("a.ogg", ["-c:a", "libvorbis"]), "audio", "audio/mpeg"],
  ["opus", sound("a.opus"), "audio", "audio/mpeg"],
  ["wav", sound("a.wav"), "audio", "audio/mpeg"],
  ["flac", sound("a.flac"), "audio", "audio/mpeg"],
  ["aac", sound("a.aac"), "audio", "audio/mpeg"],
  ["m4a", sound("a.m4a"), "audio", "audio/mpeg"]
]

/** Uploads a file like an app, which polls until it is ready, and posts it. */
const published = async (api: Client, name: string, bytes: Uint8Array) => {
  const media = await api.v2.media.create({ file: file(bytes), description: `a ${name}`, focus: "0.5,-0.25" })
  conforms(media, "MediaAttachment")
  const status = await api.v1.statuses.create({ status: name, mediaIds: [media.id] })
  conforms(status, "Status")
  return { media, shown: status.mediaAttachments[0], status }
}

layer(TestServer.layer(), { excludeTestServices: true })("masto: files", (it) => {
  for (const [index, [name, make, type, served]] of kinds.entries()) {
    it.effect(`S-070 to S-075, S-146 to S-148: uploads and posts ${name}`, () =>
      Effect.gen(function*() {
        const { api, id } = yield* newcomer(`kind${index}`)
        const bytes = yield* make
        const { media, shown, status } = yield* Effect.promise(() => published(api, name, bytes))
        assert.deepInclude(shown, { id: media.id, type, description: `a ${name}`, url: media.url ?? null })
        assert.deepInclude(shown?.meta, { focus: { x: 0.5, y: -0.25 } })
        const { bytes: sent, headers } = yield* bytesAt(shown?.url ?? "")
        assert.strictEqual(headers.get("content-type"), served)
        if (type !== "image") assert.include(yield* probed(sent), `"codec_type"`)
        // Sounds have a preview only if they came with a picture; everything else always has one.
        if (type === "audio" && !name.includes("cover")) assert.isNull(shown?.previewUrl)
        else assert.match((yield* bytesAt(shown?.previewUrl ?? "")).headers.get("content-type") ?? "", /^image\//)
        const found = yield* Effect.promise(() => api.v1.accounts.$select(id).statuses.list({ onlyMedia: true }))
        assert.deepStrictEqual(found.map((one) => one.id), [status.id])
        // Attached media cannot be changed or attached again.
        yield* Effect.promise(async () => {
          assert.deepInclude(await refusal(api.v1.media.$select(media.id).update({ description: "x" })), {
            statusCode: 404
          })
          assert.deepInclude(await refusal(api.v1.statuses.create({ status: "again", mediaIds: [media.id] })), {
            statusCode: 422
          })
        })
      }))
  }

  it.effect("every supported media type is among the tested ones", () =>
    Effect.gen(function*() {
      const { api } = yield* newcomer("asks")
      const { configuration } = yield* Effect.promise(() => api.v2.instance.fetch())
      const { supportedMimeTypes } = configuration.mediaAttachments
      const tried = ["image/jpeg", "image/png", "image/webp", "image/avif", "image/gif", "video/mp4", "video/webm"]
      const sounds = [
        "video/quicktime",
        "audio/mpeg",
        "audio/ogg",
        "audio/wave",
        "audio/flac",
        "audio/aac",
        "audio/mp4"
      ]
      assert.includeMembers([...supportedMimeTypes], [...tried, ...sounds])
      assert.notIncludeMembers([...supportedMimeTypes], ["image/svg+xml"])
    }))

  it.effect("four pictures of one post, in the order in which the app named them, and in a new order after an edit", () =>
    Effect.gen(function*() {
      const { api } = yield* newcomer("four")
      const pictures = yield* Effect.forEach(
        ["#f00", "#0f0", "#00f", "#ff0"],
        (colour) => Effect.promise(() => picture(90, 60, colour).png().toBuffer())
      )
      yield* Effect.promise(async () => {
        const ids = await Promise.all(
          pictures.map(async (bytes) => (await api.v2.media.create({ file: file(bytes) })).id)
        )
        const status = await api.v1.statuses.create({ mediaIds: ids })
        assert.deepStrictEqual(status.mediaAttachments.map(({ id }) => id), ids)
        const turned = ids.toReversed()
        const edited = await api.v1.statuses.$select(status.id).update({ status: "turned", mediaIds: turned })
        assert.deepStrictEqual(edited.mediaAttachments.map(({ id }) => id), turned)
      })
    }))
})
