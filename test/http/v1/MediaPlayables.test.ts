import { assert, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { SqlClient } from "effect/sql"
import { call, newPerson } from "../../support/Api.ts"
import { eventually } from "../../support/Eventually.ts"
import { probed, silent, sound, soundWithCover, video } from "../../support/Ffmpeg.ts"
import { blob, bytesAt, form, picture, uploaded } from "../../support/MediaFiles.ts"
import { TestServer } from "../../support/Server.ts"

const png = Effect.promise(() => picture(300, 300).png().toBuffer())

layer(TestServer.layer(), { excludeTestServices: true })("videos and sounds", (it) => {
  it.effect("S-075: mp4, mov, webm, 3gp and asf become one kind of video with figures and a preview", () =>
    Effect.gen(function*() {
      const ada = yield* newPerson("ada")
      const files = [
        yield* video("a.mp4"),
        yield* video("a.mov"),
        yield* video("a.webm", ["-c:v", "libvpx", "-c:a", "libvorbis"]),
        yield* video("a.3gp", ["-c:v", "libx264", "-c:a", "aac"]),
        yield* video("a.wmv", ["-c:v", "wmv2", "-c:a", "wmav2", "-f", "asf"])
      ]
      for (const file of files) {
        const attachment = yield* uploaded(ada, file)
        assert.strictEqual(attachment.type, "video")
        assert.deepInclude(attachment.meta.original, { width: 160, height: 120, frame_rate: "10/1" })
        assert.approximately(attachment.meta.original.duration, 1, 0.2)
        assert.isAbove(attachment.meta.original.bitrate, 1000)
        assert.strictEqual(attachment.meta.small.size, "160x120")
        assert.isString(attachment.blurhash)
        const { bytes, headers } = yield* bytesAt(attachment.url)
        assert.strictEqual(headers.get("content-type"), "video/mp4")
        const found = yield* probed(bytes)
        assert.include(found, `"codec_name": "h264"`)
        assert.include(found, `"codec_name": "aac"`)
        assert.strictEqual((yield* bytesAt(attachment.preview_url)).headers.get("content-type"), "image/jpeg")
      }
    }))

  it.effect("F96: films have square pixels, and the colours of their own thumbnail", () =>
    Effect.gen(function*() {
      const ada = yield* newPerson("oblong")
      const attachment = yield* uploaded(ada, yield* video("sar.mp4", ["-vf", "setsar=4/3", "-c:v", "libx264"]))
      assert.deepInclude(attachment.meta.original, { width: 212, height: 120 })
      assert.strictEqual(attachment.meta.small.size, "212x120")
      assert.notProperty(attachment.meta, "colors")
      assert.include(yield* probed((yield* bytesAt(attachment.url)).bytes), `"sample_aspect_ratio": "1:1"`)

      const { body: own } = yield* call(
        "POST",
        "/api/v1/media",
        ada.token,
        form({ file: blob(yield* video("own.mp4")), thumbnail: blob(yield* png) })
      )
      assert.match(own.meta.colors.background, /^#[0-9a-f]{6}$/)
      const { body: later } = yield* call(
        "PUT",
        `/api/v1/media/${attachment.id}`,
        ada.token,
        form({ thumbnail: blob(yield* png) })
      )
      assert.match(later.meta.colors.accent, /^#[0-9a-f]{6}$/)
    }))

  it.effect("F96: a film with non-square pixels has its displayed size", () =>
    Effect.gen(function*() {
      const ada = yield* newPerson("stretched")
      const file = yield* video("stretch.mp4", ["-vf", "scale=640:480,setsar=100/1", "-c:v", "libx264"])
      const { body, status } = yield* call("POST", "/api/v1/media", ada.token, form({ file: blob(file) }))
      assert.deepStrictEqual([status, body.error], [422, "64000x480 videos are not supported"])
    }))

  it.effect("an animated GIF and a video without sound become gifv; a GIF with one picture stays a picture", () =>
    Effect.gen(function*() {
      const bob = yield* newPerson("bob")
      for (const file of [yield* silent("a.gif"), yield* silent("a.mp4")]) {
        const attachment = yield* uploaded(bob, file)
        assert.strictEqual(attachment.type, "gifv")
        assert.match(attachment.url, /\.mp4$/)
        assert.notInclude(yield* probed((yield* bytesAt(attachment.url)).bytes), `"codec_type": "audio"`)
      }
      const still = yield* Effect.promise(() => picture().gif().toBuffer())
      assert.deepInclude(yield* uploaded(bob, still), { type: "image" })
    }))

  it.effect("S-073 S-074 F36: sounds keep their title, show their cover, and have no preview without one", () =>
    Effect.gen(function*() {
      const cleo = yield* newPerson("cleo")
      const kinds = [
        ["a.ogg", ["-c:a", "libvorbis"]],
        ["a.opus", []],
        ["a.wav", []],
        ["a.flac", []],
        [
          "a.aac",
          []
        ],
        ["a.webm", ["-c:a", "libvorbis"]],
        ["a.3gp", ["-c:a", "aac"]],
        ["a.wma", ["-c:a", "wmav2", "-f", "asf"]]
      ] as const
      for (const [name, options] of kinds) {
        const attachment = yield* uploaded(cleo, yield* sound(name, options))
        assert.deepInclude(attachment, { type: "audio", preview_url: null, blurhash: null })
        assert.approximately(attachment.meta.original.duration, 1, 0.2)
      }
      const tags = ["-metadata", "title=A tone", "-metadata", "artist=Ada", "-metadata", "comment=home"]
      const attachment = yield* uploaded(cleo, yield* soundWithCover(yield* png, tags))
      assert.strictEqual(attachment.type, "audio")
      assert.strictEqual(attachment.meta.small.size, "300x300")
      assert.hasAllKeys(attachment.meta.colors, ["background", "foreground", "accent"])
      const found = yield* probed((yield* bytesAt(attachment.url)).bytes)
      assert.include(found, `"title": "A tone"`)
      assert.include(found, `"artist": "Ada"`)
      assert.notInclude(found, "home")
    }))

  it.effect("S-072 S-148: a thumbnail with the upload or afterwards is the preview of a sound, and of no picture", () =>
    Effect.gen(function*() {
      const dora = yield* newPerson("dora")
      const thumbnail = blob(yield* png)
      const file = blob(yield* sound("a.mp3"))
      const { body } = yield* call("POST", "/api/v1/media", dora.token, form({ file, thumbnail }))
      assert.strictEqual(body.meta.small.size, "300x300")
      const other = blob(yield* Effect.promise(() => picture(200, 100).jpeg().toBuffer()))
      const changed = yield* call("PUT", `/api/v1/media/${body.id}`, dora.token, form({ thumbnail: other }))
      assert.strictEqual(changed.body.meta.small.size, "200x100")
      const light = blob(yield* Effect.promise(() => picture(200, 100, "#fafafa").png().toBuffer()))
      const lit = yield* call("PUT", `/api/v1/media/${body.id}`, dora.token, form({ thumbnail: light }))
      assert.notDeepEqual(lit.body.meta.colors, body.meta.colors)
      assert.notStrictEqual(changed.body.preview_url, body.preview_url)
      assert.strictEqual((yield* bytesAt(body.preview_url)).status, 404)
      const refused = yield* call("POST", "/api/v1/media", dora.token, form({ file: thumbnail, thumbnail }))
      assert.strictEqual(refused.status, 422)
    }))

  it.effect("F33: a thumbnail, description and focus that are set during processing are kept", () =>
    Effect.gen(function*() {
      const gil = yield* newPerson("gil")
      const file = yield* video("a.mp4", ["-t", "1"])
      const sql = yield* SqlClient.SqlClient
      const thumbnail = blob(yield* Effect.promise(() => picture(200, 100).jpeg().toBuffer()))
      const sending = yield* Effect.forkChild(Effect.all(
        Array.from({ length: 8 }, () => call("POST", "/api/v2/media", gil.token, form({ file: blob(file) }))),
        { concurrency: "unbounded" }
      ))
      // On a fast machine, responses only arrive after the files are ready.
      const waiting = sql<{ id: string }>`SELECT id::text FROM media_attachments
        WHERE account_id = ${gil.accountId} AND state IN ('queued', 'processing')`
      const changes = yield* Effect.forEach(
        yield* eventually(waiting, ({ length }) => length >= 4),
        ({ id }) =>
          call("PUT", `/api/v1/media/${id}`, gil.token, form({ thumbnail, description: "a test", focus: "0.5,-0.5" })),
        { concurrency: "unbounded" }
      )
      yield* Fiber.join(sending)
      assert.include(changes.map(({ status }) => status), 206)
      for (const { body: { description, id, meta }, status } of changes) {
        assert.oneOf(status, [200, 206])
        assert.deepStrictEqual([description, meta.focus], ["a test", { x: 0.5, y: -0.5 }])
        const ready = call("GET", `/api/v1/media/${id}`, gil.token)
        const { body } = yield* eventually(ready, (found) => found.status !== 206)
        assert.deepStrictEqual([body.description, body.meta.small.size], ["a test", "200x100"])
      }
    }))

  it.effect("F33: an edit replaces the thumbnail of a status's file, as a part of the body or as a data: URL", () =>
    Effect.gen(function*() {
      const hal = yield* newPerson("hal")
      const media = yield* uploaded(hal, yield* sound("a.mp3"))
      const { body } = yield* call("POST", "/api/v1/statuses", hal.token, { status: "listen", media_ids: [media.id] })
      const path = `/api/v1/statuses/${body.id}`
      const jpeg = (width: number) => Effect.promise(() => picture(width, 100).jpeg().toBuffer())
      const edit = form({
        status: "listen",
        "media_ids[]": media.id,
        "media_attributes[][id]": media.id,
        "media_attributes[][thumbnail]": blob(yield* jpeg(200)),
        "media_attributes[][description]": "a tone"
      })
      const first = yield* call("PUT", path, hal.token, edit)
      const [shown] = first.body.media_attachments
      assert.deepStrictEqual([shown.meta.small.size, shown.description], ["200x100", "a tone"])
      assert.strictEqual((yield* bytesAt(shown.preview_url)).status, 200)
      const thumbnail = `data:image/jpeg;base64,${(yield* jpeg(300)).toString("base64")}`
      const json = { status: "listen", media_ids: [media.id], media_attributes: [{ id: media.id, thumbnail }] }
      const second = yield* call("PUT", path, hal.token, json)
      assert.strictEqual(second.body.media_attachments[0].meta.small.size, "300x100")
      assert.notStrictEqual(second.body.media_attachments[0].preview_url, shown.preview_url)
      const none = { ...json, media_attributes: [{ id: media.id, thumbnail: "data:text/plain;base64,aGk=" }] }
      assert.strictEqual((yield* call("PUT", path, hal.token, none)).status, 422)
      // Without pending files, no rows are read.
      const { status } = yield* call("POST", "/api/v1/statuses", hal.token, { ...none, media_ids: [] })
      assert.strictEqual(status, 200)
    }))

  it.effect("row 49: the location is removed from a video", () =>
    Effect.gen(function*() {
      const eve = yield* newPerson("eve")
      const place = [
        "-metadata",
        "location=+48.2082+016.3738/",
        "-metadata",
        "make=Camera",
        "-movflags",
        "use_metadata_tags"
      ]
      const file = yield* video("a.mp4", place)
      assert.include(yield* probed(file), "48.2082")
      const found = yield* probed((yield* bytesAt((yield* uploaded(eve, file)).url)).bytes)
      assert.notInclude(found, "48.2082")
      assert.notInclude(found, "Camera")
    }))

  it.effect("refuses too many pixels or frames per second; a video must be the only file of its post", () =>
    Effect.gen(function*() {
      const fay = yield* newPerson("fay")
      const fast = ["-c:v", "libx264", "-preset", "ultrafast"]
      const large = yield* call(
        "POST",
        "/api/v1/media",
        fay.token,
        form({
          file: blob(yield* silent("a.mp4", "4000x2200", [...fast, "-frames:v", "1"]))
        })
      )
      assert.deepStrictEqual([large.status, large.body.error], [422, "4000x2200 videos are not supported"])
      const quick = yield* call(
        "POST",
        "/api/v1/media",
        fay.token,
        form({
          file: blob(yield* silent("a.mp4", "160x120", fast, 240))
        })
      )
      assert.deepStrictEqual([quick.status, quick.body.error], [422, "240fps videos are not supported"])
      const ids = [(yield* uploaded(fay, yield* video("a.mp4"))).id, (yield* uploaded(fay, yield* png)).id]
      const mixed = yield* call("POST", "/api/v1/statuses", fay.token, { media_ids: ids })
      assert.deepStrictEqual([mixed.status, mixed.body.error], [
        422,
        "Cannot attach a video to a post that already contains images"
      ])
    }))
})
