import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import sharp, { type Sharp } from "sharp"
import { call } from "../../support/Api.ts"
import { probed, soundWithCover, video } from "../../support/Ffmpeg.ts"
import { blob, bytesAt, form, picture, uploaded } from "../../support/MediaFiles.ts"
import { TestServer } from "../../support/Server.ts"

/** Secrets in files, and how each metadata format holds them. */
const secrets = ["Leica M3", "51/1", "Murmuration Street", "GPS", "xpacket", "exif", "Exif"]

const withSecrets = (picture: Sharp): Sharp =>
  picture.withExif({
    IFD0: { Make: "Leica M3", Artist: "Murmuration Street 1" },
    IFD3: {
      GPSLatitudeRef: "N",
      GPSLatitude: "51/1 30/1 3230/100",
      GPSLongitudeRef: "W",
      GPSLongitude: "0/1 7/1 4366/100"
    }
  }).withXmp(`<?xpacket begin="" id="x"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF
    xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description place="Murmuration Street"/></rdf:RDF>
    </x:xmpmeta><?xpacket end="w"?>`).withIccProfile("p3")

const bare = Effect.fnUntraced(function*(url: string) {
  const { bytes } = yield* bytesAt(url)
  const text = Buffer.from(bytes).toString("latin1")
  for (const secret of secrets) assert.notInclude(text, secret, url)
  const { exif, icc, iptc, xmp } = yield* Effect.promise(() => sharp(bytes).metadata())
  assert.deepStrictEqual([exif, icc, iptc, xmp], [undefined, undefined, undefined, undefined])
})

layer(TestServer.layer(), { excludeTestServices: true })("metadata in files", (it) => {
  it.effect("row 49: location, camera and comments are removed from every rendition of a picture", () =>
    Effect.gen(function*() {
      const ada = yield* (yield* TestServer).createPerson("ada")
      const files = yield* Effect.promise(() =>
        Promise.all([
          withSecrets(picture(900, 600)).jpeg().toBuffer(),
          withSecrets(picture(900, 600)).png().toBuffer(),
          withSecrets(picture(900, 600)).webp().toBuffer(),
          withSecrets(picture(900, 600)).avif().toBuffer()
        ])
      )
      for (const file of files) {
        const { exif, xmp } = yield* Effect.promise(() => sharp(file).metadata())
        assert.isTrue(exif !== undefined && xmp !== undefined)
        const { preview_url, url } = yield* uploaded(ada, file)
        for (const one of [url, preview_url]) yield* bare(one)
      }
    }))

  it.effect("row 49: a picture is rotated by its orientation, which is then removed", () =>
    Effect.gen(function*() {
      const bob = yield* (yield* TestServer).createPerson("bob")
      const file = yield* Effect.promise(() => picture(300, 200).withMetadata({ orientation: 6 }).jpeg().toBuffer())
      const { meta, preview_url, url } = yield* uploaded(bob, file)
      assert.strictEqual(meta.original.size, "200x300")
      for (const one of [url, preview_url]) {
        yield* bare(one)
        const { bytes } = yield* bytesAt(one)
        const { height, orientation, width } = yield* Effect.promise(() => sharp(bytes).metadata())
        assert.deepStrictEqual([width, height, orientation], [200, 300, undefined])
      }
    }))

  it.effect("row 49: also for avatars and headers, still or animated", () =>
    Effect.gen(function*() {
      const cleo = yield* (yield* TestServer).createPerson("cleo")
      const avatar = yield* Effect.promise(() =>
        withSecrets(sharp(Buffer.concat([Buffer.alloc(3000, 10), Buffer.alloc(3000, 200)]), {
          raw: { width: 100, height: 20, channels: 3, pageHeight: 10 }
        })).webp({ loop: 0 }).toBuffer()
      )
      const header = yield* Effect.promise(() => withSecrets(picture(900, 300)).jpeg().toBuffer())
      const { body, status } = yield* call(
        "PATCH",
        "/api/v1/accounts/update_credentials",
        cleo.token,
        form({ avatar: blob(avatar), header: blob(header) })
      )
      assert.strictEqual(status, 200)
      assert.notStrictEqual(body.avatar, body.avatar_static)
      for (const one of [body.avatar, body.avatar_static, body.header]) yield* bare(one)
    }))

  it.effect("row 49: location, device and comments are removed from videos and audio, and from their cover pictures", () =>
    Effect.gen(function*() {
      const dora = yield* (yield* TestServer).createPerson("dora")
      const told = [
        ...["location=+51.5090-000.1212/", "make=Leica M3", "comment=Murmuration Street"].flatMap((tag) => [
          "-metadata",
          tag
        ]),
        "-movflags",
        "use_metadata_tags"
      ]
      const cover = yield* Effect.promise(() => withSecrets(picture(300, 300)).png().toBuffer())
      const files = [
        yield* video("a.mp4", told),
        yield* video("a.mov", told),
        yield* video("a.webm", [...told.slice(0, 6), "-c:v", "libvpx", "-c:a", "libvorbis"]),
        yield* soundWithCover(cover, told.slice(0, 6))
      ]
      for (const file of files) {
        assert.include(yield* probed(file), "Murmuration Street")
        const { preview_url, url } = yield* uploaded(dora, file)
        const text = Buffer.from((yield* bytesAt(url)).bytes).toString("latin1")
        for (const secret of ["Leica", "51.50", "Murmuration"]) assert.notInclude(text, secret)
        yield* bare(preview_url)
      }
    }))
})
