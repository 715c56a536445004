import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { anyFaviconPath, faviconPath, iconPath, manifestPath, thumbnailPath } from "../../../src/http/html/PagePaths.ts"
import { missingAvatarPath, missingHeaderPath } from "../../../src/services/identity/PictureAddresses.ts"
import { appIconEdges, faviconEdges } from "../../../src/services/instance/PictureSettings.ts"
import { get } from "../../support/Requests.ts"
import { server } from "../../support/WebServer.ts"

layer(server(), { excludeTestServices: true })("the server's own pictures", (it) => {
  it.effect("exist, including the icon that browsers request by default", () =>
    Effect.gen(function*() {
      const paths: ReadonlyArray<readonly [path: string, seconds: number]> = [
        [missingAvatarPath, 86_400],
        [missingHeaderPath, 86_400],
        [thumbnailPath, 86_400],
        // Staff may set another one at the same address.
        [anyFaviconPath, 3_600],
        ...faviconEdges.map((edge) => [faviconPath(edge), 3_600] as const),
        ...appIconEdges.map((edge) => [iconPath(edge), 3_600] as const)
      ]
      for (const [path, seconds] of paths) {
        const { headers, status, text } = yield* get(path)
        assert.strictEqual(status, 200, path)
        assert.strictEqual(headers.get("content-type"), "image/png", path)
        assert.strictEqual(headers.get("cache-control"), `public, max-age=${seconds}`, path)
        assert.strictEqual(text.slice(1, 4), "PNG", path)
      }
    }))

  it.effect("S-235: every page names the icons and the manifest, which names existing icons", () =>
    Effect.gen(function*() {
      const { text } = yield* get("/")
      const named = [...text.matchAll(/<link rel="(?:icon|apple-touch-icon|manifest)"[^>]* href="([^"]*)"/g)]
      assert.strictEqual(named.length, faviconEdges.length + 2)
      for (const [, path = ""] of named) assert.strictEqual((yield* get(path)).status, 200, path)
      const { body, headers } = yield* get(manifestPath)
      assert.strictEqual(headers.get("content-type"), "application/manifest+json")
      assert.deepInclude(body, { name: "Murmuration", start_url: "/home", scope: "/" })
      for (const { sizes, src } of body.icons as ReadonlyArray<{ readonly sizes: string; readonly src: string }>) {
        const edge = Number(sizes.split("x")[0])
        assert.strictEqual(new URL(src).pathname, iconPath(edge))
        assert.strictEqual((yield* get(iconPath(edge))).status, 200, src)
      }
    }))
})
