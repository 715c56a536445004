import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { iconPath, iconSizes, thumbnailPath } from "../../../src/http/html/PagePaths.ts"
import { missingAvatarPath, missingHeaderPath } from "../../../src/services/identity/PictureAddresses.ts"
import { get } from "../../support/Requests.ts"
import { server } from "../../support/WebServer.ts"

layer(server(), { excludeTestServices: true })("the server's own pictures", (it) => {
  it.effect("are there, the icon that browsers ask for on their own among them", () =>
    Effect.gen(function*() {
      const paths = [
        "/favicon.ico",
        missingAvatarPath,
        missingHeaderPath,
        thumbnailPath,
        ...iconSizes.map((size) => iconPath(size))
      ]
      for (const path of paths) {
        const { headers, status, text } = yield* get(path)
        assert.strictEqual(status, 200, path)
        assert.strictEqual(headers.get("content-type"), "image/png", path)
        assert.strictEqual(headers.get("cache-control"), "public, max-age=86400", path)
        assert.strictEqual(text.slice(1, 4), "PNG", path)
      }
    }))
})
