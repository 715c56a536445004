import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ask, publishedId } from "../../support/Api.ts"
import { TestServer } from "../../support/Server.ts"
import { staffBrowser } from "../../support/StaffBrowser.ts"

const canonicalOf = (page: string) => /<link rel="canonical" href="([^"]*)">/.exec(page)?.[1]
const linkedDataOf = (page: string): unknown =>
  JSON.parse(/<script type="application\/ld\+json">(.*?)<\/script>/.exec(page)?.[1] ?? "null")

layer(TestServer.layer(), { excludeTestServices: true })("heads of public pages", (it) => {
  it.effect("have canonical links, OpenGraph, structured data, feeds and verified links for other sites", () =>
    Effect.gen(function*() {
      const { baseUrl, createPerson } = yield* TestServer
      const sql = yield* SqlClient.SqlClient
      const ada = yield* createPerson("ada")
      yield* ask(ada, "PATCH", "/api/v1/accounts/update_credentials", {
        display_name: "Ada </script><b>",
        note: "Reads & writes",
        fields_attributes: [{ name: "Home", value: "https://ada.example/" }]
      })
      yield* sql`UPDATE accounts SET fields = jsonb_set(fields, '{0,verifiedAt}', '"2026-01-01T00:00:00.000Z"')
        WHERE id = ${ada.accountId}`
      const id = yield* publishedId(ada, "Bees </script> & #honey")
      const visitor = yield* staffBrowser()
      const [profile, post, tag] = [
        (yield* visitor.get("/@ada?lang=de")).text,
        (yield* visitor.get(`/@ada/${id}?lang=de`)).text,
        (yield* visitor.get("/tags/honey?lang=de")).text
      ]
      assert.deepStrictEqual([profile, post, tag].map(canonicalOf), [
        `${baseUrl}/@ada`,
        `${baseUrl}/@ada/${id}`,
        `${baseUrl}/tags/honey`
      ])
      assert.containsSubset(linkedDataOf(profile), {
        "@context": "https://schema.org",
        "@type": "ProfilePage",
        url: `${baseUrl}/@ada`,
        mainEntity: { "@type": "Person", name: "Ada </script><b>", description: "Reads & writes" }
      })
      assert.containsSubset(linkedDataOf(post), {
        "@type": "SocialMediaPosting",
        url: `${baseUrl}/@ada/${id}`,
        text: "Bees </script> & #honey",
        author: { url: `${baseUrl}/@ada` }
      })
      assert.include(profile, `<link rel="me" href="https://ada.example/">`)
      assert.include(post, `<meta property="og:description" content="Bees &lt;/script&gt; &amp; #honey">`)
      assert.include(post, `<link rel="alternate" type="application/json+oembed"`)
      for (const page of [profile, tag]) {
        for (const type of ["rss+xml", "atom+xml", "feed+json"]) {
          assert.include(page, `<link rel="alternate" type="application/${type}"`, type)
        }
      }
    }))
})
