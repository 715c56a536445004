import type { MegalodonInterface, WebSocketInterface } from "megalodon"
import type { ReadStream } from "node:fs"

/* Every operation of megalodon, called in an order in which each has data to work on. */

/** Clients of the callers, and the ids created so far, by name. */
export interface Stage {
  readonly anna: MegalodonInterface
  readonly ben: MegalodonInterface
  readonly cora: MegalodonInterface
  readonly anybody: MegalodonInterface
  /** With an app token. */
  readonly app: MegalodonInterface
  /** A picture, as megalodon takes it in Node. */
  readonly file: ReadStream
  readonly credentials: { readonly id: string; readonly secret: string }
  /** Code for the user to copy. */
  readonly code: string
  readonly id: (name: string) => string
}

/** Call of an operation; "another network's" if megalodon itself says that Mastodon lacks it. */
export type MegalodonCall = ((stage: Stage) => unknown) | "another network's"

/** Waits until a socket opens, and closes it. */
const seen = async (opening: Promise<WebSocketInterface>) => {
  const socket = await opening
  await new Promise<void>((resolve) => socket.on("connect", () => resolve()))
  socket.stop()
}

const others = "another network's"
const endpoint = "https://push.example/1"
const keys = {
  p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
  auth: "BTBZMqHH6r4Tts7J_aSIgg"
}

/** Names for the id that each operation creates. */
export const createdName: Readonly<Record<string, string>> = {
  postStatus: "post",
  uploadMedia: "media",
  createFilter: "filter",
  createList: "list",
  createFeaturedTag: "featured",
  getNotifications: "notification",
  getConversationTimeline: "conversation",
  getInstanceAnnouncements: "announcement"
}

/** Calls in order; the compiler requires one for every method of the library. */
export const megalodonCalls: { readonly [Name in keyof MegalodonInterface]: MegalodonCall } = {
  registerApp: ({ anybody }) => anybody.registerApp("Rows", { scopes: ["read", "write"] }),
  createApp: ({ anybody }) => anybody.createApp("Rows", { scopes: ["read", "write"] }),
  verifyAppCredentials: ({ app }) => app.verifyAppCredentials(),
  fetchAccessToken: ({ anybody, code, credentials }) =>
    anybody.fetchAccessToken(credentials.id, credentials.secret, code),
  refreshToken: ({ anybody, credentials }) => anybody.refreshToken(credentials.id, credentials.secret, "none"),
  registerAccount: ({ app }) => app.registerAccount("newest", "newest@example.org", "a good password", true, "en"),
  verifyAccountCredentials: ({ anna }) => anna.verifyAccountCredentials(),
  updateCredentials: ({ anna }) => anna.updateCredentials({ display_name: "Anna", note: "hello", discoverable: true }),
  getAccount: ({ anna, id }) => anna.getAccount(id("ben")),
  followAccount: ({ anna, id }) => anna.followAccount(id("ben")),
  getAccountStatuses: ({ anna, id }) => anna.getAccountStatuses(id("ben")),
  getAccountFavourites: others,
  subscribeAccount: ({ anna, id }) => anna.subscribeAccount(id("ben")),
  unsubscribeAccount: ({ anna, id }) => anna.unsubscribeAccount(id("ben")),
  getAccountFollowers: ({ anna, id }) => anna.getAccountFollowers(id("ben")),
  getAccountFollowing: ({ anna, id }) => anna.getAccountFollowing(id("anna")),
  getAccountLists: ({ anna, id }) => anna.getAccountLists(id("ben")),
  getIdentityProof: ({ anna, id }) => anna.getIdentityProof(id("ben")),
  muteAccount: ({ anna, id }) => anna.muteAccount(id("ben"), true),
  getMutes: ({ anna }) => anna.getMutes(),
  unmuteAccount: ({ anna, id }) => anna.unmuteAccount(id("ben")),
  pinAccount: ({ anna, id }) => anna.pinAccount(id("ben")),
  getEndorsements: ({ anna }) => anna.getEndorsements(),
  unpinAccount: ({ anna, id }) => anna.unpinAccount(id("ben")),
  setAccountNote: ({ anna, id }) => anna.setAccountNote(id("ben"), "knows birds"),
  getRelationship: ({ anna, id }) => anna.getRelationship(id("ben")),
  getRelationships: ({ anna, id }) => anna.getRelationships([id("ben"), id("cora")]),
  searchAccount: ({ anna }) => anna.searchAccount("ben"),
  lookupAccount: ({ anna }) => anna.lookupAccount("ben"),
  getFollowRequests: ({ cora }) => cora.getFollowRequests(),
  acceptFollowRequest: ({ cora, id }) => cora.acceptFollowRequest(id("anna")),
  rejectFollowRequest: ({ cora, id }) => cora.rejectFollowRequest(id("ben")),
  blockAccount: ({ cora, id }) => cora.blockAccount(id("ben")),
  getBlocks: ({ cora }) => cora.getBlocks(),
  unblockAccount: ({ cora, id }) => cora.unblockAccount(id("ben")),
  blockDomain: ({ anna }) => anna.blockDomain("hidden.example"),
  getDomainBlocks: ({ anna }) => anna.getDomainBlocks(),
  unblockDomain: ({ anna }) => anna.unblockDomain("hidden.example"),
  createFilter: ({ anna }) => anna.createFilter("birds", ["home"]),
  getFilters: ({ anna }) => anna.getFilters(),
  getFilter: ({ anna, id }) => anna.getFilter(id("filter")),
  updateFilter: ({ anna, id }) => anna.updateFilter(id("filter"), "bird", ["home"]),
  deleteFilter: ({ anna, id }) => anna.deleteFilter(id("filter")),
  report: ({ anna, id }) => anna.report(id("ben"), { comment: "a test" }),
  createFeaturedTag: ({ anna }) => anna.createFeaturedTag("cats"),
  getFeaturedTags: ({ anna }) => anna.getFeaturedTags(),
  deleteFeaturedTag: ({ anna, id }) => anna.deleteFeaturedTag(id("featured")),
  getSuggestedTags: ({ anna }) => anna.getSuggestedTags(),
  getPreferences: ({ anna }) => anna.getPreferences(),
  followTag: ({ anna }) => anna.followTag("cats"),
  getFollowedTags: ({ anna }) => anna.getFollowedTags(),
  getTag: ({ anna }) => anna.getTag("cats"),
  unfollowTag: ({ anna }) => anna.unfollowTag("cats"),
  getSuggestions: ({ anna }) => anna.getSuggestions(),
  uploadMedia: ({ anna, file }) => anna.uploadMedia(file, { description: "a picture" }),
  getMedia: ({ anna, id }) => anna.getMedia(id("media")),
  updateMedia: ({ anna, id }) => anna.updateMedia(id("media"), { description: "another one" }),
  postStatus: ({ anna, id }) => anna.postStatus("Look #cats @ben", { media_ids: [id("media")] }),
  getStatus: ({ anna, id }) => anna.getStatus(id("post")),
  editStatus: ({ anna, id }) => anna.editStatus(id("post"), { status: "Look again #cats @ben" }),
  getStatusContext: ({ anna, id }) => anna.getStatusContext(id("post")),
  getStatusSource: ({ anna, id }) => anna.getStatusSource(id("post")),
  favouriteStatus: ({ anna, id }) => anna.favouriteStatus(id("post")),
  getStatusFavouritedBy: ({ anna, id }) => anna.getStatusFavouritedBy(id("post")),
  getFavourites: ({ anna }) => anna.getFavourites(),
  unfavouriteStatus: ({ anna, id }) => anna.unfavouriteStatus(id("post")),
  reblogStatus: ({ cora, id }) => cora.reblogStatus(id("post")),
  getStatusRebloggedBy: ({ anna, id }) => anna.getStatusRebloggedBy(id("post")),
  unreblogStatus: ({ cora, id }) => cora.unreblogStatus(id("post")),
  bookmarkStatus: ({ anna, id }) => anna.bookmarkStatus(id("post")),
  getBookmarks: ({ anna }) => anna.getBookmarks(),
  unbookmarkStatus: ({ anna, id }) => anna.unbookmarkStatus(id("post")),
  muteStatus: ({ anna, id }) => anna.muteStatus(id("post")),
  unmuteStatus: ({ anna, id }) => anna.unmuteStatus(id("post")),
  pinStatus: ({ anna, id }) => anna.pinStatus(id("post")),
  unpinStatus: ({ anna, id }) => anna.unpinStatus(id("post")),
  getPoll: ({ anna, id }) => anna.getPoll(id("poll")),
  votePoll: ({ anna, id }) => anna.votePoll(id("poll"), [0]),
  getScheduledStatuses: ({ anna }) => anna.getScheduledStatuses(),
  getScheduledStatus: ({ anna, id }) => anna.getScheduledStatus(id("scheduled")),
  scheduleStatus: ({ anna, id }) => anna.scheduleStatus(id("scheduled"), "2036-01-01T00:00:00Z"),
  cancelScheduledStatus: ({ anna, id }) => anna.cancelScheduledStatus(id("scheduled")),
  getPublicTimeline: ({ anna }) => anna.getPublicTimeline(),
  getLocalTimeline: ({ anna }) => anna.getLocalTimeline(),
  getTagTimeline: ({ anna }) => anna.getTagTimeline("cats"),
  getHomeTimeline: ({ anna }) => anna.getHomeTimeline(),
  createList: ({ anna }) => anna.createList("Friends"),
  getLists: ({ anna }) => anna.getLists(),
  getList: ({ anna, id }) => anna.getList(id("list")),
  updateList: ({ anna, id }) => anna.updateList(id("list"), "Good friends"),
  addAccountsToList: ({ anna, id }) => anna.addAccountsToList(id("list"), [id("ben")]),
  getAccountsInList: ({ anna, id }) => anna.getAccountsInList(id("list")),
  getListTimeline: ({ anna, id }) => anna.getListTimeline(id("list")),
  deleteAccountsFromList: ({ anna, id }) => anna.deleteAccountsFromList(id("list"), [id("ben")]),
  getConversationTimeline: ({ anna }) => anna.getConversationTimeline(),
  readConversation: ({ anna, id }) => anna.readConversation(id("conversation")),
  deleteConversation: ({ anna, id }) => anna.deleteConversation(id("conversation")),
  saveMarkers: ({ anna, id }) => anna.saveMarkers({ home: { last_read_id: id("post") } }),
  getMarkers: ({ anna }) => anna.getMarkers(["home"]),
  getNotifications: ({ ben }) => ben.getNotifications(),
  getNotification: ({ ben, id }) => ben.getNotification(id("notification")),
  readNotifications: others,
  dismissNotification: ({ ben, id }) => ben.dismissNotification(id("notification")),
  dismissNotifications: ({ ben }) => ben.dismissNotifications(),
  subscribePushNotification: ({ anna }) =>
    anna.subscribePushNotification({ endpoint, keys }, { alerts: { mention: true } }),
  getPushSubscription: ({ anna }) => anna.getPushSubscription(),
  updatePushSubscription: ({ anna }) => anna.updatePushSubscription({ alerts: { mention: false } }),
  deletePushSubscription: ({ anna }) => anna.deletePushSubscription(),
  search: ({ anna }) => anna.search("ben"),
  getInstance: ({ anybody }) => anybody.getInstance(),
  getInstancePeers: ({ anybody }) => anybody.getInstancePeers(),
  getInstanceActivity: ({ anybody }) => anybody.getInstanceActivity(),
  getInstanceTrends: ({ anybody }) => anybody.getInstanceTrends(),
  getInstanceDirectory: ({ anybody }) => anybody.getInstanceDirectory(),
  getInstanceCustomEmojis: ({ anybody }) => anybody.getInstanceCustomEmojis(),
  getInstanceAnnouncements: ({ anna }) => anna.getInstanceAnnouncements(),
  addReactionToAnnouncement: ({ anna, id }) => anna.addReactionToAnnouncement(id("announcement"), "👍"),
  removeReactionFromAnnouncement: ({ anna, id }) => anna.removeReactionFromAnnouncement(id("announcement"), "👍"),
  dismissInstanceAnnouncement: ({ anna, id }) => anna.dismissInstanceAnnouncement(id("announcement")),
  createEmojiReaction: others,
  deleteEmojiReaction: others,
  getEmojiReactions: others,
  getEmojiReaction: others,
  streamingURL: ({ anna }) => anna.streamingURL(),
  userStreaming: ({ anna }) => seen(anna.userStreaming()),
  publicStreaming: ({ anna }) => seen(anna.publicStreaming()),
  localStreaming: ({ anna }) => seen(anna.localStreaming()),
  tagStreaming: ({ anna }) => seen(anna.tagStreaming("cats")),
  listStreaming: ({ anna, id }) => seen(anna.listStreaming(id("list"))),
  directStreaming: ({ anna }) => seen(anna.directStreaming()),
  deleteList: ({ anna, id }) => anna.deleteList(id("list")),
  unfollowAccount: ({ anna, id }) => anna.unfollowAccount(id("ben")),
  deleteStatus: ({ anna, id }) => anna.deleteStatus(id("post")),
  revokeToken: ({ anybody, credentials, id }) => anybody.revokeToken(credentials.id, credentials.secret, id("token")),
  cancel: ({ anna }) => anna.cancel()
}
