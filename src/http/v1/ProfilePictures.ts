import { Context, Effect, Layer } from "effect"
import type { ProfileChange } from "../../services/identity/ProfileChange.ts"
import type { Focus } from "../../services/media/MediaAttachments.ts"
import { MediaTools, type ProfilePicture } from "../../services/media/MediaTools.ts"
import { Storage } from "../../services/media/Storage.ts"
import { StoredFiles } from "../../services/media/StoredFiles.ts"
import { Uploads } from "../../services/media/Uploads.ts"
import { Unavailable, validationFailed } from "../../services/runtime/Errors.ts"
import { traced } from "../../services/runtime/Traced.ts"
import type { FileTicket } from "../wire/MediaRequests.ts"

/** Accepted types of profile pictures (limits-and-rates.md section 1). */
const types = new Set(["image/jpeg", "image/png", "image/gif", "image/webp"])

const names = { avatar: "Avatar", header: "Header" }

/** Profile pictures, from an upload to a command of the account. */
export class ProfilePictures extends Context.Service<ProfilePictures, {
  /** Converts and stores the uploaded picture, cropped around `focus`; returns undefined if nothing was uploaded. */
  readonly make: (kind: ProfilePicture, given: FileTicket | undefined, focus?: Focus) => Effect.Effect<
    ProfileChange["avatar"],
    Unavailable | ReturnType<typeof validationFailed>
  >
}>()("murmuration/http/v1/ProfilePictures") {
  static readonly layer = Layer.effect(
    ProfilePictures,
    Effect.gen(function*() {
      const files = yield* StoredFiles
      const storage = yield* Storage
      const tools = yield* MediaTools
      const uploads = yield* Uploads

      const make = traced("ProfilePictures.make")(
        function*(kind: ProfilePicture, given: FileTicket | undefined, focus?: Focus) {
          const upload = given ? uploads.find(given.ticket) : undefined
          if (upload === undefined || upload.bytes === 0) return undefined
          const { name, type } = upload
          if (type === undefined || !types.has(type.mime)) {
            return yield* validationFailed(`${names[kind]} content type is invalid`, `${names[kind]} is invalid`)
          }
          return yield* Effect.scoped(Effect.gen(function*() {
            const source = { path: yield* storage.local(name), type }
            const { likeness, animated, still } = yield* tools.profilePicture(
              source,
              yield* storage.folder,
              kind,
              focus
            )
            return {
              name: yield* files.keep(animated.extension, animated.path, animated.bytes),
              staticName: still === undefined ? null : yield* files.keep(still.extension, still.path, still.bytes),
              ...(kind === "avatar" && { likeness })
            }
          })).pipe(Effect.catchTags({
            MediaRefused: ({ text }) => validationFailed(`${names[kind]} ${text}`),
            MediaToolFailed: () => validationFailed(`${names[kind]} is invalid`),
            StorageFailed: (error) =>
              Effect.andThen(Effect.logError("a picture could not be stored", error), Effect.fail(new Unavailable())),
            SqlError: Effect.die
          }))
        }
      )
      return ProfilePictures.of({ make })
    })
  )
}
