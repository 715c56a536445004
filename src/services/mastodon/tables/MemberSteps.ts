import { threadStatusesMax } from "../../statuses/ConversationWriter.ts"
import { cleanupAges } from "../../statuses/PostCleanup.ts"
import { nowMark, type Step } from "../Step.ts"
import { lacksAccount, lacksUser, listOf } from "./ColumnSql.ts"

const statusesHere = `ARRAY(SELECT p.id FROM statuses p WHERE p.id = ANY (${
  listOf("status_ids", "bigint")
}) AND p.deleted_at IS NULL
  ORDER BY p.id DESC LIMIT ${threadStatusesMax})`

/** Private data of members besides relations: direct conversations and choices. */
export const steps: ReadonlyArray<Step> = [
  {
    name: "direct conversations",
    table: "account_conversations",
    columns: "id:bigint account_id:bigint conversation_id:bigint participant_account_ids status_ids unread:boolean",
    skips: [`cardinality(${statusesHere}) = 0`],
    rejects: [lacksUser("account_id"), ["conversation_id IS NULL", "the conversation has no thread"]],
    write: [
      `INSERT INTO account_conversations (id, account_id, conversation_id, participant_ids, status_ids, last_status_id, unread)
      SELECT id, account_id, conversation_id, participants, here, here[1], coalesce(unread, false) FROM (
        SELECT *, ${statusesHere} AS here, ARRAY(SELECT p FROM unnest(${
        listOf("participant_account_ids", "bigint")
      }) p ORDER BY p) AS participants
        FROM staged) s
      ON CONFLICT (id) DO UPDATE SET status_ids = excluded.status_ids, last_status_id = excluded.last_status_id, unread = excluded.unread`
    ],
    changes: "unseen",
    ends: "account_conversations"
  },
  {
    name: "deletion of old posts",
    table: "account_statuses_cleanup_policies",
    columns:
      `account_id:bigint enabled:boolean min_status_age:bigint keep_direct:boolean keep_pinned:boolean keep_polls:boolean
      keep_media:boolean keep_self_bookmark:boolean keep_self_fav:boolean min_favs:int min_reblogs:int updated_at:timestamptz`,
    rejects: [lacksUser("account_id"), ["min_status_age IS NULL OR min_status_age < 0", "the policy has no age"]],
    // Mastodon counts months of 30.4 days.
    write: [
      `INSERT INTO post_cleanups (account_id, enabled, min_age_days, keep_direct, keep_pinned, keep_polls, keep_media, keep_own_favourites,
        keep_own_bookmarks, min_favourites, min_reblogs)
      SELECT account_id, coalesce(enabled, true), (SELECT d FROM unnest(ARRAY[${cleanupAges.join(", ")}]) d
          ORDER BY abs(d - min_status_age / 86400.0) LIMIT 1), coalesce(keep_direct, true), coalesce(keep_pinned, true), coalesce(keep_polls, false),
        coalesce(keep_media, false), coalesce(keep_self_fav, true), coalesce(keep_self_bookmark, true), nullif(min_favs, 0), nullif(min_reblogs, 0)
      FROM staged ON CONFLICT (account_id) DO UPDATE SET enabled = excluded.enabled, min_age_days = excluded.min_age_days,
        keep_direct = excluded.keep_direct, keep_pinned = excluded.keep_pinned, keep_polls = excluded.keep_polls,
        keep_media = excluded.keep_media, keep_own_favourites = excluded.keep_own_favourites,
        keep_own_bookmarks = excluded.keep_own_bookmarks, min_favourites = excluded.min_favourites, min_reblogs = excluded.min_reblogs`,
      // The end of the run postpones the first deletion.
      `INSERT INTO agenda (kind, subject_id, account_id, due_at) SELECT 'post_cleanup', account_id, account_id, '${nowMark}'::timestamptz
        FROM staged WHERE coalesce(enabled, true) ON CONFLICT (kind, subject_id) DO NOTHING`
    ],
    changes: true
  },
  {
    name: "reasons to join",
    table: "user_invite_requests",
    joins: "JOIN users u ON u.id = t.user_id",
    columns: "text updated_at:timestamptz",
    computed: [["account_id:bigint", "u.account_id"]],
    skips: ["coalesce(text, '') = ''"],
    rejects: [lacksUser("account_id")],
    write: [`UPDATE users u SET reason = left(s.text, 420) FROM staged s WHERE u.account_id = s.account_id`],
    changes: true
  },
  {
    name: "dismissed suggestions",
    table: "follow_recommendation_mutes",
    columns: "id:bigint account_id:bigint target_account_id:bigint",
    rejects: [lacksUser("account_id"), lacksAccount("target_account_id")],
    write: [`INSERT INTO dismissed_suggestions (id, account_id, target_account_id, for_good)
      SELECT id, account_id, target_account_id, true FROM staged ON CONFLICT DO NOTHING`]
  }
]
