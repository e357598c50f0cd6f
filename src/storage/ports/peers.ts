/** The processes that use the database, as this one knows them. In SQLite, it is the only one. */
export type Peers = {
  /** The id under which this process owns what it queues, reserves and leases: a new one after each eviction. */
  id(): string
  /** The number of processes, this one included. */
  count(): number
  /** Whether this process does the work that one process is enough for, such as deleting expired data. */
  isFirst(): boolean
  /** Calls the handlers until it is stopped. What has happened before is reported now. */
  watch(handlers: PeerHandlers): { stop(): void }
  /** Evicts another process that has certainly ended, without waiting for its missing heartbeats. */
  evict(id: string): Promise<void>
}

/** Handlers for the eviction of peers and of this process. */
export type PeerHandlers = {
  /** Settles what processes left open that were evicted or have ended. Repeated until it resolves, never called twice at once. */
  settleAbandoned(): Promise<void>
  /**
   * The others have evicted this process, and settle what it left open: ends its calls and its runs. Its id is a new one
   * already.
   */
  onEvicted(): void
}
