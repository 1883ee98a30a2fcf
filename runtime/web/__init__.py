"""HTTP as both of our servers receive it, the application's and the gateway's: limits of heads and bodies."""
