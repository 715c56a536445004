import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { call } from "../../support/Api.ts"
import { blob, form, picture } from "../../support/MediaFiles.ts"
import { TestServer } from "../../support/Server.ts"

const base = "https://files.example.net/cdn"

layer(TestServer.layer({ MEDIA_BASE_URL: `${base}/` }), { excludeTestServices: true })("MEDIA_BASE_URL", (it) => {
  it.effect("is the base of every file, in JSON, on pages and in their policy; of avatars in WebFinger, too", () =>
    Effect.gen(function*() {
      const { baseUrl, createPerson, fetch } = yield* TestServer
      const ada = yield* createPerson("ada")
      const png = blob(yield* Effect.promise(() => picture().png().toBuffer()))
      const { body: media } = yield* call("POST", "/api/v1/media", ada.token, form({ file: png }))
      const { body: account } = yield* call(
        "PATCH",
        "/api/v1/accounts/update_credentials",
        ada.token,
        form({ avatar: png, header: png })
      )
      const post = { status: "look", media_ids: [media.id] }
      const { body: status } = yield* call("POST", "/api/v1/statuses", ada.token, post)
      const address = new RegExp(`^${base.replaceAll(".", "\\.")}/[0-9a-v]{2}/[0-9a-v]{32}\\.png$`)
      const [shown] = status.media_attachments
      const finger = yield* call("GET", `/.well-known/webfinger?resource=acct:ada@${new URL(baseUrl).host}`, undefined)
      const avatar = finger.body.links.find(({ rel }: { rel: string }) => rel.endsWith("avatar")).href
      const files = [media.url, media.preview_url, shown.url, shown.preview_url]
      const pictures = [account.avatar, account.avatar_static, account.header, account.header_static, avatar]
      for (const url of [...files, ...pictures, status.account.avatar]) assert.match(url, address)
      for (const path of ["/@ada", new URL(status.url).pathname]) {
        const page = yield* fetch(path)
        const policy = page.headers.get("content-security-policy") ?? ""
        assert.include(policy, "img-src 'self' https://files.example.net data:;", path)
        assert.include(policy, "media-src 'self' https://files.example.net;", path)
        const text = yield* Effect.promise(() => page.text())
        const sources = [...text.matchAll(/<(?!script)[^<>]* (?:src|poster)="([^"]+)"/g)].map(([, source]) => source!)
        assert.isNotEmpty(sources, path)
        for (const source of sources) assert.match(source, address, path)
      }
      // The policy of pages without user files does not allow it.
      const signIn = yield* fetch("/auth/sign_in")
      assert.notInclude(signIn.headers.get("content-security-policy") ?? "", "files.example.net")
    }))
})
