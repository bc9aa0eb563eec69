/** Tests of the console import the server, whose clock has more than that of browsers. */
interface Performance {
  eventLoopUtilization(): { readonly idle: number; readonly active: number; readonly utilization: number };
}
