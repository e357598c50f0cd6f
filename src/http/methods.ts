/** The methods of HTTP, as IANA registers them. */
const registered: ReadonlySet<string> = new Set(
  (
    'ACL BASELINE-CONTROL BIND CHECKIN CHECKOUT CONNECT COPY DELETE GET HEAD LABEL LINK LOCK MERGE MKACTIVITY MKCALENDAR ' +
    'MKCOL MKREDIRECTREF MKWORKSPACE MOVE OPTIONS ORDERPATCH PATCH POST PRI PROPFIND PROPPATCH PUT QUERY REBIND REPORT ' +
    'SEARCH TRACE UNBIND UNCHECKOUT UNLINK UNLOCK UPDATE UPDATEREDIRECTREF VERSION-CONTROL'
  ).split(' '),
)

/** Whether HTTP knows the method: one that it does not know is not implemented, whatever the path. */
export function isHttpMethod(method: string): boolean {
  return registered.has(method)
}
