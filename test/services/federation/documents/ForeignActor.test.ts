import { assert, describe, it } from "@effect/vitest"
import { foreignActor } from "../../../../src/services/federation/documents/ForeignActor.ts"
import { urlReader } from "../../../../src/services/federation/documents/ForeignValues.ts"

const id = new URL("https://else.test/users/zoe")
const at = (path: string) => `https://else.test${path}`
const document = { id: id.href, type: "Person", preferredUsername: "zoe", inbox: at("/inbox/zoe") }
const read = (more: Record<string, unknown>) => foreignActor({ ...document, ...more }, id, urlReader([]))

describe("actors of other servers (federation.md section 3)", () => {
  it("F83: missing properties have their default values", () => {
    assert.deepInclude(read({}), {
      username: "zoe",
      displayName: "",
      noteHtml: "",
      url: id.href,
      fields: [],
      locked: false,
      discoverable: false,
      indexable: false,
      memorial: false,
      suspended: false,
      showFeatured: true,
      showMedia: true,
      showMediaReplies: true,
      publishedAt: undefined,
      sharedInboxUrl: null,
      followersUrl: null,
      featuredBy: undefined,
      alsoKnownAs: [],
      movedTo: null,
      attributionDomains: [],
      keys: [],
      avatar: undefined,
      handle: undefined
    })
  })

  it("F83: each member is read in all forms that servers write", () => {
    const cases: ReadonlyArray<readonly [Record<string, unknown>, Record<string, unknown>]> = [
      [{ type: ["https://example.org/ns#Room", "Group"] }, { type: "Group" }],
      [{ name: "Zoe", summary: "<p>Hi</p>" }, { displayName: "Zoe", noteHtml: "<p>Hi</p>" }],
      [{ url: at("/@zoe") }, { url: at("/@zoe") }],
      [{ url: [{ type: "Link", href: at("/@zoe") }, at("/other")] }, { url: at("/@zoe") }],
      [{ url: "https://elsewhere.test/@zoe" }, { url: id.href }],
      [{ endpoints: { sharedInbox: at("/inbox") } }, { sharedInboxUrl: at("/inbox") }],
      [{ sharedInbox: at("/inbox") }, { sharedInboxUrl: at("/inbox") }],
      [{ outbox: at("/o"), followers: at("/f"), following: at("/g") }, {
        outboxUrl: at("/o"),
        followersUrl: at("/f"),
        followingUrl: at("/g")
      }],
      [{ featured: at("/p"), featuredTags: at("/t"), featuredCollections: at("/c") }, {
        featuredUrl: at("/p"),
        featuredTagsUrl: at("/t"),
        featuredCollectionsUrl: at("/c")
      }],
      [{ followers: "https://elsewhere.test/f" }, { followersUrl: null }],
      [{ manuallyApprovesFollowers: true, discoverable: true, indexable: true }, {
        locked: true,
        discoverable: true,
        indexable: true
      }],
      [{ memorial: true, suspended: true }, { memorial: true, suspended: true }],
      [{ manuallyApprovesFollowers: "true", memorial: 1 }, { locked: false, memorial: false }],
      [{ published: "2020-05-01T10:00:00Z" }, { publishedAt: new Date("2020-05-01T10:00:00Z") }],
      [{ attachment: { type: "PropertyValue", name: "n", value: "v" } }, {
        fields: [{ name: "n", value: "v", html: "v" }]
      }],
      [{ attachment: [{ type: "IdentityProof", name: "n", value: "v" }] }, { fields: [] }],
      [{ icon: { type: "Image", url: at("/a.png"), summary: "me", name: "not me" } }, {
        avatar: { url: at("/a.png"), description: "me" }
      }],
      [{ icon: at("/a.png"), image: [{ url: at("/h.png"), name: "sea" }] }, {
        avatar: { url: at("/a.png"), description: "" },
        header: { url: at("/h.png"), description: "sea" }
      }],
      [{ alsoKnownAs: at("/users/old") }, { alsoKnownAs: [at("/users/old")] }],
      [{ movedTo: { id: at("/users/new") } }, { movedTo: at("/users/new") }],
      [{ attributionDomains: ["News.example", { id: "x" }] }, { attributionDomains: ["news.example"] }],
      [{
        followers: at("/f"),
        interactionPolicy: { canFeature: { automaticApproval: ["as:Public", id.href], manualApproval: at("/f") } }
      }, { featuredBy: { automatic: ["public"], manual: ["followers"] } }],
      [{ showFeatured: false, showMedia: false, showRepliesInMedia: false }, {
        showFeatured: false,
        showMedia: false,
        showMediaReplies: false
      }],
      [{ webfinger: "zoe@apex.test" }, { handle: { username: "zoe", domain: "apex.test" } }]
    ]
    for (const [more, expected] of cases) assert.deepInclude(read(more), expected, JSON.stringify(more))
  })

  it("F83: an actor has a known type, an inbox, a name and the id that served it", () => {
    const others = [
      { type: "Robot" },
      { inbox: undefined },
      { inbox: "ftp://else.test/inbox" },
      { preferredUsername: undefined },
      { preferredUsername: "z e" },
      { preferredUsername: ".zoe" },
      { id: at("/users/other") }
    ]
    for (const more of others) assert.isUndefined(read(more), JSON.stringify(more))
    for (const type of ["Application", "Group", "Organization", "Person", "Service"]) {
      assert.deepInclude(read({ type }), { type })
    }
  })
})
