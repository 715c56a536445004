import type { About } from "../../services/instance/Instance.ts"
import type { InstancePictureKind } from "../../services/instance/PictureSettings.ts"
import type { ServerConfig } from "../../services/instance/ServerConfig.ts"
import * as Urls from "../../services/instance/Urls.ts"

/** URLs of an instance picture by size, the default size first; none if the server's default picture is used. */
interface InstancePictureFiles {
  readonly versions: ReadonlyArray<readonly [size: string, url: string]>
  readonly blurhash: string | null
  readonly description: string
}

type Config = Pick<ServerConfig["Service"], "mediaUrl">

/** Returns a picture that staff uploaded for the instance. */
export const instancePictureFiles = (config: Config, about: About, kind: InstancePictureKind): InstancePictureFiles => {
  if (kind !== "thumbnail") {
    const names = Object.entries(about[kind]?.names ?? {}).toSorted(([a], [b]) => Number(b) - Number(a))
    return {
      versions: names.map(([edge, name]) => [`${edge}x${edge}`, Urls.file(config, name)]),
      blurhash: null,
      description: ""
    }
  }
  const { thumbnail } = about
  if (thumbnail === null) return { versions: [], blurhash: null, description: "" }
  const { blurhash, description, doubleName, fileName } = thumbnail
  const url = Urls.file(config, fileName)
  return {
    versions: [["@1x", url], ["@2x", doubleName === null ? url : Urls.file(config, doubleName)]],
    blurhash,
    description
  }
}
