/** An ordinary user that every system has, without a control group. Only root can become it. */
export const NOBODY_UID = 65_534;
