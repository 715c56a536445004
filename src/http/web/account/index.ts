export { layer } from "./FollowPages.ts"
