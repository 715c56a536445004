import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { json } from "../../support/Api.ts"
import { idOf, rejected, servers, source, transferred } from "../../support/mastodon/Copies.ts"

layer(servers, { excludeTestServices: true })(
  "relations and rules of a Mastodon server",
  (it) => {
    it.effect("F381: are copied unchanged, with the ids of their activities, and with the work that is due", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const from = yield* source("4.5")
        const { insert } = from
        const ada = yield* from.person(idOf(1), "ada")
        const at = new Date(Date.UTC(2024, 1))
        const zoe = yield* from.stranger(idOf(2), "zoe", { suspendedAt: at })
        const yan = yield* from.stranger(idOf(3), "yan")
        const soon = new Date(Date.now() + 3_600_000)
        const own = { accountId: ada.id }
        yield* from.token(ada, "read write follow")
        yield* insert("follow_requests", {
          id: 10n,
          ...own,
          targetAccountId: yan.id,
          uri: "https://local.example/payloads/f"
        })
        yield* insert(
          "blocks",
          { id: 11n, ...own, targetAccountId: zoe.id, uri: "https://local.example/payloads/b" },
          { id: 12n, accountId: yan.id, targetAccountId: ada.id, uri: "https://far.example/blocks/1" }
        )
        yield* insert("mutes", { id: 13n, ...own, targetAccountId: yan.id, hideNotifications: false, expiresAt: soon })
        yield* insert("account_domain_blocks", { id: 14n, ...own, domain: "Loud.example" })
        yield* insert("account_notes", { id: 15n, ...own, targetAccountId: yan.id, comment: "met in Rome" })
        yield* insert("account_pins", { id: 16n, ...own, targetAccountId: yan.id })
        yield* insert("tags", { id: 17n, name: "birds" })
        yield* insert("tag_follows", { id: 18n, ...own, tagId: 17n })
        yield* insert(
          "custom_filters",
          { id: 19n, ...own, phrase: "Spoilers", context: ["home", "public"], action: 1 },
          { id: 20n, ...own, phrase: "Over", context: ["home"], expiresAt: at }
        )
        yield* insert("custom_filter_keywords", { id: 21n, customFilterId: 19n, keyword: "ending", wholeWord: false }, {
          id: 22n,
          customFilterId: 20n,
          keyword: "x"
        })
        yield* insert("statuses", {
          id: idOf(30),
          accountId: ada.id,
          local: true,
          text: "to you",
          visibility: 3,
          conversationId: 31n
        })
        yield* insert(
          "account_conversations",
          {
            id: 32n,
            ...own,
            conversationId: 31n,
            participantAccountIds: [yan.id, zoe.id].toReversed(),
            statusIds: [idOf(30), idOf(29)],
            unread: true
          },
          { id: 33n, ...own, conversationId: 34n, statusIds: [idOf(29)] },
          { id: 35n, accountId: yan.id, conversationId: 31n, statusIds: [idOf(30)] }
        )
        yield* insert("account_statuses_cleanup_policies", {
          ...own,
          minStatusAge: 2_629_746,
          keepPolls: true,
          minFavs: 5
        })
        yield* insert("user_invite_requests", { userId: ada.userId, text: "I like birds" })
        yield* insert("follow_recommendation_mutes", { id: 36n, ...own, targetAccountId: yan.id })
        yield* insert("markers", { userId: ada.userId, timeline: "home", lastReadId: idOf(5), lockVersion: 3 })
        yield* insert("domain_blocks", {
          id: 23n,
          domain: "far.example",
          severity: 1,
          publicComment: "spam",
          createdAt: at
        }, { id: 24n, domain: "odd.example", severity: 7 })
        yield* insert("email_domain_blocks", { id: 25n, domain: "trash.example" })
        yield* insert("ip_blocks", { id: 26n, ip: "192.0.2.7/24", severity: 9_999, comment: "scans" })
        yield* transferred(from, "copy")
        assert.deepStrictEqual(
          yield* rejected(from),
          ["direct conversations 35", "domain blocks 24", "filters 20", "words of filters 22"]
        )
        const me = { token: "token-of-ada" }
        const [relation] = yield* json(me, `/api/v1/accounts/relationships?id=${yan.id}`)
        assert.deepInclude(relation, {
          requested: true,
          muting: true,
          muting_notifications: false,
          blocked_by: true,
          endorsed: true,
          note: "met in Rome"
        })
        assert.deepStrictEqual(yield* json(me, "/api/v1/domain_blocks"), ["loud.example"])
        const [filter, ...others] = yield* json(me, "/api/v2/filters")
        assert.deepStrictEqual(others, [])
        assert.deepInclude(filter, { id: "19", title: "Spoilers", context: ["home", "public"], filter_action: "hide" })
        assert.deepStrictEqual(filter.keywords, [{ id: "21", keyword: "ending", whole_word: false }])
        assert.deepInclude((yield* json(me, "/api/v1/markers?timeline[]=home")).home, {
          last_read_id: String(idOf(5)),
          version: 3
        })
        assert.deepInclude(yield* json(me, "/api/v1/tags/birds"), { following: true })
        assert.deepStrictEqual(
          yield* sql`SELECT kind, subject_id, due_at FROM agenda WHERE kind = 'mute_end'`,
          [{ kind: "mute_end", subjectId: 13n, dueAt: soon }]
        )
        // Deletions begin here as they would have there.
        assert.deepStrictEqual(
          yield* sql`SELECT kind, account_id, due_at > now() + interval '6 days' AS later FROM agenda
            WHERE kind IN ('post_cleanup', 'suspension_end') ORDER BY kind`,
          [
            { kind: "post_cleanup", accountId: ada.id, later: false },
            { kind: "suspension_end", accountId: zoe.id, later: true }
          ]
        )
        assert.deepStrictEqual(yield* sql`SELECT uri FROM blocks WHERE id = 11`, [{
          uri: "https://local.example/payloads/b"
        }])
        assert.deepStrictEqual(
          yield* sql`SELECT type, target_id FROM undoable_activities WHERE uri = 'https://far.example/blocks/1'`,
          [
            { type: "Block", targetId: ada.id }
          ]
        )
        assert.deepStrictEqual(yield* sql`SELECT domain, severity, public_comment FROM domain_blocks`, [
          { domain: "far.example", severity: "suspend", publicComment: "spam" }
        ])
        assert.deepStrictEqual(
          yield* sql`SELECT suspended_by_domain FROM accounts WHERE id = ANY (${[
            zoe.id,
            yan.id
          ]}::bigint[]) ORDER BY id`,
          [
            { suspendedByDomain: true },
            { suspendedByDomain: false }
          ]
        )
        assert.deepStrictEqual(yield* sql`SELECT ip::text AS ip, severity FROM ip_blocks`, [{
          ip: "192.0.2.0/24",
          severity: "no_access"
        }])
        assert.deepStrictEqual(
          yield* sql`SELECT id, account_id, conversation_id, participant_ids, status_ids, last_status_id, unread FROM account_conversations`,
          [{
            id: 32n,
            accountId: ada.id,
            conversationId: 31n,
            participantIds: [zoe.id, yan.id],
            statusIds: [idOf(30)],
            lastStatusId: idOf(30),
            unread: true
          }]
        )
        assert.deepStrictEqual(
          yield* sql`SELECT min_age_days, keep_polls, keep_own_favourites, min_favourites FROM post_cleanups`,
          [
            { minAgeDays: 30, keepPolls: true, keepOwnFavourites: true, minFavourites: 5 }
          ]
        )
        assert.deepStrictEqual(yield* sql`SELECT reason FROM users WHERE account_id = ${ada.id}`, [{
          reason: "I like birds"
        }])
        assert.deepStrictEqual(yield* sql`SELECT target_account_id, for_good FROM dismissed_suggestions`, [
          { targetAccountId: yan.id, forGood: true }
        ])
        yield* insert("statuses", {
          id: idOf(37),
          accountId: ada.id,
          local: true,
          text: "and this",
          visibility: 3,
          conversationId: 31n
        })
        yield* from.sql`UPDATE account_conversations SET unread = false, status_ids = ${[
          idOf(30),
          idOf(37)
        ]} WHERE id = 32`
        yield* from.sql`DELETE FROM account_domain_blocks`
        yield* from.sql`UPDATE custom_filters SET phrase = 'Endings', updated_at = ${new Date()} WHERE id = 19`
        yield* transferred(from, "delta")
        assert.deepStrictEqual(yield* sql`SELECT status_ids, last_status_id, unread FROM account_conversations`, [
          { statusIds: [idOf(37), idOf(30)], lastStatusId: idOf(37), unread: false }
        ])
        assert.deepStrictEqual(yield* sql`SELECT FROM domain_mutes`, [])
        assert.deepStrictEqual(yield* sql`SELECT title FROM filters`, [{ title: "Endings" }])
      }))
  }
)
