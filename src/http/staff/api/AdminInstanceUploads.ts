import { Effect, Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Instance } from "../../../services/instance/Instance.ts"
import { type InstancePictureKind, instancePictureKinds } from "../../../services/instance/PictureSettings.ts"
import { ServerConfig } from "../../../services/instance/ServerConfig.ts"
import { InstanceUploads } from "../../../services/media/InstanceUploads.ts"
import { Uploads } from "../../../services/media/Uploads.ts"
import { RecordNotFound } from "../../../services/runtime/Errors.ts"
import { traced } from "../../../services/runtime/Traced.ts"
import { Access } from "../../guard/Access.ts"
import { Caller } from "../../guard/Caller.ts"
import { group } from "../../guard/Group.ts"
import { Guard } from "../../guard/Guard.ts"
import * as Reply from "../../guard/Reply.ts"
import { instancePictureFiles } from "../../render/InstancePictureFiles.ts"
import { json } from "../../wire/Keys.ts"
import { AdminInstanceUpload, InstanceUploadPath, NewInstanceUpload } from "../wire/InstanceUpload.ts"

const path = "/api/v1/admin/site_uploads"
const writing = Access.staff("manageSettings", "admin:write")
const about = { params: InstanceUploadPath, success: Schema.Array(AdminInstanceUpload) }

export class AdminInstanceUploadsGroup extends HttpApiGroup.make("admin/instanceUploads")
  .add(
    HttpApiEndpoint.get("all", path, { success: Schema.Array(AdminInstanceUpload) })
      .annotate(Access, Access.staff("manageSettings", "admin:read")),
    HttpApiEndpoint.put("set", `${path}/:kind`, { ...about, payload: NewInstanceUpload }).annotate(Access, writing),
    HttpApiEndpoint.delete("remove", `${path}/:kind`, about).annotate(Access, writing)
  )
  .middleware(Guard)
{}

const names: Readonly<Record<InstancePictureKind, AdminInstanceUpload["kind"]>> = {
  thumbnail: "thumbnail",
  appIcon: "app_icon",
  favicon: "favicon"
}

const kindOf = (name: string) => {
  const kind = instancePictureKinds.find((one) => names[one] === name)
  return kind === undefined ? Effect.fail(new RecordNotFound()) : Effect.succeed(kind)
}

/** Pictures of the server: link preview image, app icon and favicon (S-235). */
export const layer = group(
  AdminInstanceUploadsGroup,
  Effect.fn(function*(handlers) {
    const config = yield* ServerConfig
    const instance = yield* Instance
    const instanceUploads = yield* InstanceUploads
    const uploads = yield* Uploads

    const shown = Effect.map(
      instance.about,
      (now) =>
        Reply.json(json<ReadonlyArray<AdminInstanceUpload>>(instancePictureKinds.map((kind) => {
          const { blurhash, description, versions } = instancePictureFiles(config, now, kind)
          const url = versions[0]?.[1] ?? null
          return { kind: names[kind], url, versions: Object.fromEntries(versions), blurhash, description }
        })))
    )

    return handlers.handleAll({
      all: traced("admin.instanceUploads.all")(() => shown),
      set: traced("admin.instanceUploads.set")(function*({ params, payload }) {
        const kind = yield* kindOf(params.kind)
        const upload = payload.file ? uploads.find(payload.file.ticket) : undefined
        yield* instanceUploads.receive(yield* Caller.account, kind, upload, payload.description ?? "")
        return yield* shown
      }),
      remove: traced("admin.instanceUploads.remove")(function*({ params }) {
        yield* instanceUploads.remove(yield* Caller.account, yield* kindOf(params.kind))
        return yield* shown
      })
    })
  })
)
