/** SQL for the clock of the server in milliseconds since 1970: times that processes compare must come from one clock. */
export const serverTime = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint'
